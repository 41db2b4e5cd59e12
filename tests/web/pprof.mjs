// SPDX-License-Identifier: Apache-2.0
// The profiles that tfprof writes for pprof, read by another's reader, against its folded stacks.
// usage: node --test-reporter=tap pprof.mjs SYNTH CLI
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { Profile } = require("pprof-format");
const [synth, cli] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "tfprof-pprof-"));
after(() => rmSync(folder, { recursive: true }));
execFileSync(synth, ["--jax", "-o", folder], { stdio: "ignore" });

const run = (...args) =>
    execFileSync(cli, [...args, "--no-cache"], { stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });

// Stacks with their values, as folded lines are.
function stacks(profile) {
    const text = (i) => profile.stringTable.strings[Number(i)];
    const locations = new Map(profile.location.map((l) => [l.id, l]));
    const functions = new Map(profile.function.map((f) => [f.id, f]));
    return profile.sample.map((sample) => {
        const names = sample.locationId.map((id) => {
            const line = locations.get(id).line[0];
            return text(functions.get(line.functionId).name);
        });
        return `${names.reverse().join(";").trim()} ${sample.value[1]}`;
    });
}

for (const [view, quantity] of [
    ["scope", "micros"],
    ["code", "micros"],
    ["op", "float_ops"],
    ["graph", "bytes_accessed"],
]) {
    test(`${view}, ${quantity}`, () => {
        const file = join(folder, `${view}.pb.gz`);
        const options = ["-max_depth", "1000", "-output_quantity", quantity];
        run(view, folder, ...options, "-output", `pprof:outfile=${file}`);
        const profile = Profile.decode(gunzipSync(readFileSync(file)));
        const folded = run(view, folder, ...options, "-output", "folded").toString();
        const lines = folded.split("\n").filter((line) => line);
        assert.ok(lines.length > 10, `${lines.length} stacks`);
        assert.deepEqual(stacks(profile), lines);
        const [runs, value] = profile.sampleType;
        assert.equal(profile.stringTable.strings[Number(runs.type)], "occurrence");
        assert.equal(profile.stringTable.strings[Number(value.type)], quantity);
        assert.ok(profile.sample.every((sample) => BigInt(sample.value[0]) > 0n));
    });
}

test("frames of code have their file and line", () => {
    const profile = Profile.decode(gunzipSync(readFileSync(join(folder, "code.pb.gz"))));
    const text = (i) => profile.stringTable.strings[Number(i)];
    const functions = new Map(profile.function.map((f) => [f.id, f]));
    const frames = profile.location.filter((l) => Number(l.line[0].line) > 0);
    assert.ok(frames.length > 0);
    for (const { line } of frames) {
        const frame = functions.get(line[0].functionId);
        assert.equal(text(frame.name), `${text(frame.filename)}:${line[0].line}`);
    }
});
