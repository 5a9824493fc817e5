// Files and folders on their way to the server, by parts: what arrived once is never sent again, also tomorrow.
// Several files travel as one tar that is put together while it is read; nothing is held in memory.

const API = "/api/v1";
const PIECE = 1 << 20;
const TRIES = 6;
// What tools leave in a folder of code; nobody wants to send it.
const LEFT_OUT = new Set([".git", "__pycache__", ".venv", "node_modules", ".ipynb_checkpoints", ".mypy_cache"]);

// ---- SHA-256 of a stream: the browser's own takes only a whole in memory, and only over TLS

const ROUND = new Uint32Array(64);
const START = new Uint32Array(8);
(() => {
  const fraction = (x) => ((x - Math.floor(x)) * 4294967296) >>> 0;
  let count = 0;
  for (let n = 2; count < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (!prime) continue;
    if (count < 8) START[count] = fraction(Math.sqrt(n));
    ROUND[count++] = fraction(Math.cbrt(n));
  }
})();

class Sha256 {
  constructor() {
    this.state = Uint32Array.from(START);
    this.words = new Uint32Array(64);
    this.rest = new Uint8Array(64);
    this.waiting = 0;
    this.length = 0;
  }

  update(bytes) {
    this.length += bytes.length;
    let at = 0;
    if (this.waiting) {
      at = Math.min(64 - this.waiting, bytes.length);
      this.rest.set(bytes.subarray(0, at), this.waiting);
      this.waiting += at;
      if (this.waiting < 64) return;
      this.block(this.rest, 0);
      this.waiting = 0;
    }
    for (; at + 64 <= bytes.length; at += 64) this.block(bytes, at);
    this.rest.set(bytes.subarray(at));
    this.waiting = bytes.length - at;
  }

  block(bytes, at) {
    const w = this.words;
    for (let i = 0; i < 16; i++, at += 4) {
      w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15], y = w[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
    }
    const s = this.state;
    s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e; s[5] += f; s[6] += g; s[7] += h;
  }

  hex() {
    const bits = this.length * 8;
    const tail = new Uint8Array((this.waiting < 56 ? 64 : 128) - this.waiting);
    tail[0] = 0x80;
    const view = new DataView(tail.buffer);
    view.setUint32(tail.length - 8, Math.floor(bits / 4294967296));
    view.setUint32(tail.length - 4, bits >>> 0);
    this.update(tail);
    return Array.from(this.state, (word) => word.toString(16).padStart(8, "0")).join("");
  }
}

async function digest(blob, tell) {
  const sha = new Sha256();
  for (let at = 0; at < blob.size; at += PIECE) {
    sha.update(new Uint8Array(await blob.slice(at, at + PIECE).arrayBuffer()));
    tell(Math.min(1, (at + PIECE) / blob.size));
  }
  return sha.hex();
}

// ---- a tar of many files

const text = new TextEncoder();

function header(name, size, time, kind) {
  const bytes = new Uint8Array(512);
  const put = (value, at) => bytes.set(text.encode(value), at);
  const octal = (value, digits) => value.toString(8).padStart(digits, "0");
  put(name, 0);
  put("0000644\0" + "0000000\0" + "0000000\0", 100);
  put(octal(size, 11) + "\0" + octal(time, 11) + "\0" + "        " + kind, 124);
  put("ustar\0" + "00", 257);
  put(octal(bytes.reduce((sum, byte) => sum + byte, 0), 6) + "\0 ", 148);
  return bytes;
}

function record(key, value) {
  const body = ` ${key}=${value}\n`;
  const length = text.encode(body).length;
  let total = length + String(length).length;
  if (length + String(total).length !== total) total = length + String(total).length;
  return text.encode(`${total}${body}`);
}

function padded(part, size) {
  return size % 512 ? [part, new Uint8Array(512 - (size % 512))] : [part];
}

function tar(entries) {
  const parts = [];
  for (const { path, file } of entries) {
    const time = Math.max(0, Math.floor(file.lastModified / 1000));
    const plain = /^[\x20-\x7e]{1,100}$/.test(path);
    const records = [...(plain ? [] : [record("path", path)]), ...(file.size < 8 ** 11 ? [] : [record("size", file.size)])];
    if (records.length) {
      const size = records.reduce((sum, each) => sum + each.length, 0);
      parts.push(header("pax", size, time, "x"), ...padded(new Blob(records), size));
    }
    parts.push(header(plain ? path : "file", file.size < 8 ** 11 ? file.size : 0, time, "0"), ...padded(file, file.size));
  }
  return new Blob([...parts, new Uint8Array(1024)]);
}

// ---- what was chosen or dropped

async function within(entry, above, found) {
  const path = above + entry.name;
  if (entry.isFile) found.push({ path, file: await new Promise((good, bad) => entry.file(good, bad)) });
  if (!entry.isDirectory) return;
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((good, bad) => reader.readEntries(good, bad));
    if (!some.length) return;
    for (const each of some) await within(each, `${path}/`, found);
  }
}

async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter(Boolean);
  const found = [];
  for (const entry of entries) await within(entry, "", found);
  return found;
}

const chosen = (input) => [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

const without = (entries, leftOut) => entries.filter(({ path }) => !path.split("/").slice(0, -1).some((name) => leftOut.has(name)));

// Without the folder that was chosen: what lies in it is the code, or the data.
function inner(entries, leftOut) {
  const kept = without(entries, leftOut);
  const tops = new Set(kept.map(({ path }) => (path.includes("/") ? path.split("/")[0] : "")));
  const top = [...tops][0];
  return tops.size === 1 && top ? kept.map((each) => ({ ...each, path: each.path.slice(top.length + 1) })) : kept;
}

// ---- sending

let csrf;

async function call(method, path, body, headers = {}) {
  if (csrf === undefined) csrf = (await (await fetch(`${API}/me`)).json()).csrf || "";
  const json = body !== undefined && !(body instanceof Blob);
  const answer = await fetch(API + path, {
    method,
    headers: { ...(csrf ? { "X-CSRF-Token": csrf } : {}), ...(json ? { "Content-Type": "application/json" } : {}), ...headers },
    body: json ? JSON.stringify(body) : body,
  });
  if (answer.ok) return answer.status === 204 ? {} : answer.json();
  const told = await answer.json().catch(() => ({}));
  throw Object.assign(new Error([told.message || answer.statusText, told.hint].filter(Boolean).join(". ")), { status: answer.status });
}

// A network that comes and goes costs a part and some patience; a refusal is final.
async function patiently(work) {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if ((error.status && error.status < 500) || tries === TRIES) throw error;
      await new Promise((later) => setTimeout(later, 500 * 2 ** tries));
    }
  }
}

async function send(blob, kind, name, tell) {
  const sha256 = await digest(blob, (share) => tell("reading", share));
  const begun = await patiently(() => call("POST", "/uploads", { sha256, size_bytes: blob.size, kind, name }));
  let left = begun.missing.length;
  for (const number of begun.missing) {
    tell("sending", 1 - left / begun.parts);
    const start = (number - 1) * begun.part_bytes;
    const part = blob.slice(start, start + begun.part_bytes);
    await patiently(() => call("PUT", `/uploads/${sha256}/parts/${number}`, part, { "Content-Type": "application/octet-stream" }));
    left -= 1;
  }
  tell("checking", 1);
  await patiently(() => call("POST", `/uploads/${sha256}/complete`, {}));
  return sha256;
}

export default {
  props: { mode: String, address: String, words: Object },
  emits: ["done", "failed"],
  template: `
    <div class="o-drop" :class="{ over }" role="group" :aria-label="words.drop"
         @dragover.prevent="over = true" @dragleave="over = false" @drop.prevent="drop">
      <div class="o-drop-row">
        <span class="o-quiet">{{ words.drop }}</span>
        <button type="button" class="o-button" @click="$refs.files.click()">{{ words.files }}</button>
        <button type="button" class="o-button" @click="$refs.folder.click()">{{ words.folder }}</button>
      </div>
      <input ref="files" type="file" multiple hidden :aria-label="words.files" @change="choose($refs.files)">
      <input ref="folder" type="file" webkitdirectory hidden :aria-label="words.folder" @change="choose($refs.folder)">
      <div v-if="now" class="o-drop-state" role="status">
        <span>{{ now.name }}</span><span class="o-quiet">{{ words[now.phase] }}</span>
        <progress :value="now.share" max="1" :aria-label="now.name"></progress>
        <span class="o-number">{{ Math.floor(now.share * 100) }} %</span>
      </div>
      <div v-if="error" class="o-drop-state o-error" role="alert">
        <span>{{ error }}</span><button type="button" class="o-button" @click="again()">{{ words.again }}</button>
      </div>
    </div>`,
  data: () => ({ over: false, now: null, error: "", again: () => {} }),
  methods: {
    async drop(event) {
      this.over = false;
      await this.take(await dropped(event.dataTransfer));
    },
    async choose(input) {
      const entries = chosen(input);
      input.value = "";
      await this.take(entries);
    },
    async take(entries) {
      if (!entries.length || this.now) return;
      this.error = "";
      this.again = () => this.take(entries);
      try {
        await this.bring(entries);
      } catch (error) {
        this.error = error.message;
        this.$emit("failed", error.message);
      }
      this.now = null;
    },
    async bring(entries) {
      const store = this.mode === "store";
      const clean = this.mode === "hub" ? without(entries, LEFT_OUT) : entries;
      const found = store || this.mode === "hub" ? clean : inner(entries, this.mode === "code" ? LEFT_OUT : new Set());
      const files = found.sort((a, b) => (a.path < b.path ? -1 : 1));
      if (!files.length) throw new Error(this.words.nothing);
      const single = store && files.length === 1 && !files[0].path.includes("/");
      const name = single ? files[0].path : entries[0].path.split("/")[0];
      this.now = { name, phase: "reading", share: 0 };
      const tell = (phase, share) => { this.now = { name, phase, share }; };
      const address = this.address;
      const blob = single ? files[0].file : tar(files);
      const sha256 = await send(blob, single ? "file" : "folder", single ? name : "", tell);
      if (store) {
        tell("placing", 1);
        await call("POST", `/uploads/${sha256}/place`, { address });
        await call("DELETE", `/uploads/${sha256}`);
      }
      const paths = files.map(({ path }) => path);
      this.$emit("done", { sha256, name, address, count: paths.length, paths: paths.slice(0, 2000) });
    },
  },
};
