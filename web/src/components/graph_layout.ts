// SPDX-License-Identifier: Apache-2.0
// Where boxes and arrows go. Wraps the package that knows; a file of its own, fetched when a graph
// is first shown.

import { Graph, layout } from '@dagrejs/dagre';

export interface Box {
  id: string;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Picture {
  width: number;
  height: number;
  /** Upper left corners, by the boxes' places. */
  boxes: Point[];
  /** From the upper box to the lower one, by the arrows' places. */
  arrows: Point[][];
}

/**
 * `arrows` name boxes by id, the upper one first; both must be among the boxes, and no arrow may be
 * there twice.
 */
export function layoutGraph(
  boxes: readonly Box[],
  arrows: readonly { from: string; to: string }[],
): Picture {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 40, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
  for (const { from, to } of arrows) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    boxes: boxes.map((box) => {
      const { x, y } = graph.node(box.id) as Point;
      return { x: x - box.width / 2, y: y - box.height / 2 };
    }),
    arrows: arrows.map(({ from, to }) => (graph.edge(from, to) as { points: Point[] }).points),
  };
}

export type LayoutGraph = typeof layoutGraph;
