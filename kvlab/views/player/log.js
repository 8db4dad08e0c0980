// How do the bytes of a log become columns of numbers?
//
// The other half of streams.py: a head in JSON, then zigzag varints, all deflated.
// Left out: what the columns mean (states.js, run.js).

// kvlab player: one file, used three ways: anywidget, standalone page, iframe in a cell.
// It opens a log (log.py), adds and subtracts patches, and draws. It knows no cache rule.
export class LogError extends Error {}

async function inflate(bytes) {
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Zigzag varints, `count` of them. Flags: 1 written as differences, 2 over 31 bits. */
function numbers(raw, at, count, flags) {
  const out = new (flags & 2 ? Float64Array : Int32Array)(count);
  const delta = flags & 1;
  let last = 0;
  for (let i = 0; i < count; i++) {
    let byte = raw[at++];
    let value = byte & 127;
    let place = 7;
    for (; byte > 127 && place < 28; place += 7) {
      byte = raw[at++];
      value |= (byte & 127) << place;
    }
    for (; byte > 127; place += 7) {
      byte = raw[at++];
      value += (byte & 127) * 2 ** place; // beyond 31 bits a shift would wrap
    }
    const half = place < 35 ? value >>> 1 : Math.floor(value / 2);
    const signed = value % 2 ? -1 - half : half;
    out[i] = last = delta ? last + signed : signed;
  }
  return out;
}

export async function openLog(bytes) {
  if (!bytes) throw new LogError("no log");
  const tag = String.fromCharCode(...bytes.subarray(0, 4));
  if (tag !== "KVP1") throw new LogError("no log");
  let raw;
  try {
    raw = await inflate(bytes.subarray(8));
  } catch (problem) {
    throw new LogError(String(problem));
  }
  const view = new DataView(raw.buffer, raw.byteOffset);
  const size = view.getUint32(0, true);
  const end = 4 + size;
  if (end > raw.length) throw new LogError("cut off within its head");
  const log = headOf(raw.subarray(4, end));
  log.col = {};
  let at = end;
  for (const [name, length, count, flags] of log.streams) {
    log.col[name] = numbers(raw, at, count, flags);
    at += length;
  }
  if (at !== raw.length) throw new LogError(`${raw.length} bytes instead of ${at}`);
  return log;
}

function headOf(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (problem) {
    throw new LogError(String(problem));
  }
}
