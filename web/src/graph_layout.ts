// SPDX-License-Identifier: Apache-2.0
// A bundle of its own, so that pages without a graph do not carry it; components/iterator_graph
// fetches it.
import { layoutGraph } from './components/graph_layout';

window.tfprofLayoutGraph = layoutGraph;
