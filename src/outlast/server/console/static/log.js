// The output of a run: a window of it, read by byte ranges from the REST API, so that its length does not matter.
const CHUNK = 96 * 1024;
const MOST_LINES = 6000;
const NEAR_PX = 240;

export default {
  template: `
  <div class="o-log">
    <div class="o-row o-log-bar">
      <form class="o-row" role="search" @submit.prevent="search(1)">
        <input v-model="wanted" type="search" class="o-input" :placeholder="texts.search" :aria-label="texts.search" maxlength="200">
        <button type="submit" class="o-button">{{ texts.next }}</button>
        <button type="button" class="o-button" @click="search(-1)">{{ texts.previous }}</button>
        <span class="o-quiet o-small" role="status">{{ told }}</span>
      </form>
      <span class="o-grow"></span>
      <button type="button" class="o-button" @click="jumpToError">{{ texts.error }}</button>
      <button type="button" class="o-button" @click="jump(0)">{{ texts.start }}</button>
      <button type="button" class="o-button" @click="end">{{ texts.end }}</button>
      <button type="button" class="o-button" :aria-pressed="wrap" @click="wrap = !wrap">{{ texts.wrap }}</button>
      <button v-if="live" type="button" class="o-button" :aria-pressed="following" @click="following ? pause() : end()">{{ texts.follow }}</button>
      <a class="o-button" :href="address({ download: 'true' })">{{ texts.download }}</a>
    </div>
    <div ref="box" class="o-log-box" :class="{ wrap }" role="log" aria-live="off" tabindex="0" :aria-label="texts.log"
      @scroll.passive="scrolled"></div>
    <div class="o-quiet o-small o-ends"><span>{{ place }}</span><span>{{ state }}</span></div>
  </div>`,
  props: { run: String, stint: Number, live: Boolean, empty: Boolean, texts: Object },
  data: () => ({ wanted: "", told: "", wrap: true, following: false, place: "", state: "" }),
  watch: { live(yes) { if (!yes) this.state = ""; } },
  mounted() {
    this.top = 0; this.bottom = 0; this.busy = false; this.hits = []; this.hit = -1;
    this.size = this.empty ? 0 : 1; // a range of nothing would be refused
    this.decoder = new TextDecoder();
    this.end();
  },
  unmounted() { this.source?.close(); },
  methods: {
    address(words = {}) {
      const asked = new URLSearchParams(this.stint ? { stint: this.stint, ...words } : words);
      return `/api/v1/runs/${this.run}/logs?${asked}`;
    },
    async read(range) {
      const answer = await fetch(this.address(), { headers: { Range: `bytes=${range}` } });
      if (answer.status === 416) { this.size = 0; return null; }
      if (!answer.ok) { this.state = (await answer.json()).message; return null; }
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const said = (answer.headers.get("Content-Range") || "").match(/bytes (\d+)-\d+\/(\d+)/);
      this.size = said ? Number(said[2]) : bytes.length;
      return { start: said ? Number(said[1]) : 0, bytes, cursor: answer.headers.get("Outlast-Cursor") || "" };
    },
    // The end, and from there on what comes.
    async end() {
      this.source?.close();
      const found = this.size ? await this.read(`-${CHUNK}`) : null;
      this.clear();
      if (found) {
        const from = found.start === 0 ? 0 : found.bytes.indexOf(10) + 1;
        this.top = found.start + from;
        this.append(found.bytes.subarray(from), this.top);
      }
      this.$refs.box.scrollTop = this.$refs.box.scrollHeight;
      if (this.live) this.follow(found ? found.cursor : "");
      this.tell();
    },
    follow(cursor) {
      const asked = new URLSearchParams({ ...(this.stint ? { stint: this.stint } : {}), ...(cursor ? { cursor } : {}) });
      this.source = new EventSource(`/api/v1/runs/${this.run}/logs/stream?${asked}`);
      this.following = true;
      this.source.onmessage = (event) => {
        const bytes = new TextEncoder().encode(JSON.parse(event.data).text);
        const atEnd = this.isAtEnd();
        this.size += bytes.length;
        this.append(bytes, this.bottom);
        this.trimTop();
        if (atEnd) this.$refs.box.scrollTop = this.$refs.box.scrollHeight;
        this.tell();
      };
      this.source.addEventListener("end", () => this.pause());
      this.source.addEventListener("error", (event) => { if (event.data) this.pause(); });
    },
    pause() { this.source?.close(); this.source = null; this.following = false; },
    async jump(offset, mark = false) {
      if (!this.size) return;
      this.pause();
      const from = Math.max(0, offset - CHUNK / 2);
      const found = await this.read(`${from}-${from + CHUNK - 1}`);
      this.clear();
      if (!found) return;
      const skip = from === 0 ? 0 : found.bytes.indexOf(10) + 1;
      this.top = from + skip;
      this.append(found.bytes.subarray(skip), this.top);
      const lines = [...this.$refs.box.children];
      const line = lines.findLast((each) => Number(each.dataset.at) <= offset) || lines[0];
      if (line) { if (mark) line.classList.add("hit"); line.scrollIntoView({ block: offset ? "center" : "start" }); }
      this.tell();
    },
    async before() {
      if (this.busy || this.top === 0) return;
      this.busy = true;
      const from = Math.max(0, this.top - CHUNK);
      const found = await this.read(`${from}-${this.top - 1}`);
      if (found) {
        const box = this.$refs.box, height = box.scrollHeight;
        const skip = from === 0 ? 0 : found.bytes.indexOf(10) + 1;
        const made = this.lines(found.bytes.subarray(skip), from + skip).parts;
        box.prepend(...made);
        this.top = from + skip;
        box.scrollTop += box.scrollHeight - height;
        this.trimBottom();
      }
      this.busy = false;
      this.tell();
    },
    async after() {
      if (this.busy || this.following || this.bottom >= this.size) return;
      this.busy = true;
      const found = await this.read(`${this.bottom}-${this.bottom + CHUNK - 1}`);
      if (found) { this.append(found.bytes, this.bottom); this.trimTop(); }
      this.busy = false;
      this.tell();
    },
    clear() { this.$refs.box.replaceChildren(); this.top = this.bottom = 0; this.open = null; },
    // Whole lines are final; an unfinished one stays open and is written anew when more of it comes.
    append(bytes, at) {
      if (this.open) {
        const joined = new Uint8Array(this.open.bytes.length + bytes.length);
        joined.set(this.open.bytes); joined.set(bytes, this.open.bytes.length);
        at = this.open.at; bytes = joined;
        this.open.element.remove();
        this.open = null;
      }
      const { parts, rest, restAt } = this.lines(bytes, at);
      this.$refs.box.append(...parts);
      this.bottom = at + bytes.length;
      if (rest.length) {
        const element = this.line(rest, restAt);
        this.$refs.box.append(element);
        this.open = { bytes: rest, at: restAt, element };
      }
    },
    lines(bytes, at) {
      const parts = [];
      let start = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
        parts.push(this.line(bytes.subarray(start, end), at + start));
        start = end + 1;
      }
      return { parts, rest: bytes.slice(start), restAt: at + start };
    },
    line(bytes, at) {
      const element = document.createElement("div");
      element.dataset.at = at;
      let text = this.decoder.decode(bytes).replace(/\r+$/, "");
      text = text.slice(text.lastIndexOf("\r") + 1); // a line that overwrote itself is shown as it was left
      paint(element, text);
      return element;
    },
    trimTop() {
      const box = this.$refs.box;
      const many = box.childElementCount - MOST_LINES;
      if (many <= 0) return;
      const height = box.scrollHeight;
      for (let left = many; left > 0; left--) box.firstElementChild.remove();
      this.top = Number(box.firstElementChild.dataset.at);
      box.scrollTop -= height - box.scrollHeight;
    },
    trimBottom() {
      const box = this.$refs.box;
      if (box.childElementCount <= MOST_LINES) return;
      this.pause();
      while (box.childElementCount > MOST_LINES) { this.bottom = Number(box.lastElementChild.dataset.at); box.lastElementChild.remove(); }
      this.open = null;
    },
    isAtEnd() { const box = this.$refs.box; return box.scrollHeight - box.scrollTop - box.clientHeight < 40; },
    scrolled() {
      const box = this.$refs.box;
      if (box.scrollTop < NEAR_PX) this.before();
      if (box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX) this.after();
    },
    search(step) {
      if (!this.wanted) return;
      if (this.wanted === this.searched && this.hits.length) return this.go(this.hit + step);
      this.told = this.texts.searching;
      this.direction = step;
      this.$emit("search", { text: this.wanted });
    },
    jumpToError() { this.told = this.texts.searching; this.$emit("trouble", {}); },
    found(text, hits, more) {
      this.searched = text;
      this.hits = hits;
      this.more = more;
      if (!hits.length) { this.told = this.texts.nothing; return; }
      this.go(this.direction > 0 ? 0 : hits.length - 1);
    },
    go(place) {
      this.hit = (place + this.hits.length) % this.hits.length;
      this.told = `${this.hit + 1} / ${this.hits.length}${this.more ? "+" : ""}`;
      this.jump(this.hits[this.hit], true);
    },
    trouble(offset) {
      this.told = offset === null ? this.texts.nothing : "";
      if (offset !== null) this.jump(offset, true);
    },
    tell() {
      this.place = this.size ? `${bytesText(this.top)} – ${bytesText(this.bottom)} / ${bytesText(this.size)}` : this.texts.empty;
      this.state = this.following ? this.texts.following : this.state === this.texts.following ? "" : this.state;
    },
  },
};

function bytesText(size) {
  const units = ["B", "KB", "MB", "GB"];
  let place = 0;
  while (size >= 1024 && place < 3) { size /= 1024; place += 1; }
  return `${place ? size.toFixed(1) : size} ${units[place]}`;
}

// Colours and weights of a terminal; every other escape sequence is left out.
function paint(element, text) {
  if (!text.includes("\x1b")) { element.textContent = text || "\u200b"; return; }
  let classes = new Set();
  for (const part of text.split(/(\x1b\[[0-9;]*m)/)) {
    const codes = part.match(/^\x1b\[([0-9;]*)m$/);
    if (codes) { classes = restyled(classes, codes[1].split(";").map(Number)); continue; }
    const plain = part.replace(/\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])/g, "");
    if (!plain) continue;
    const span = document.createElement("span");
    span.className = [...classes].join(" ");
    span.textContent = plain;
    element.append(span);
  }
  if (!element.textContent) element.textContent = "\u200b";
}

function restyled(before, codes) {
  let classes = new Set(before);
  const colour = (name) => { classes = new Set([...classes].filter((each) => !each.startsWith("a-c"))); if (name) classes.add(name); };
  for (let place = 0; place < codes.length; place++) {
    const code = codes[place];
    if (code === 0) classes = new Set();
    else if (code === 1) classes.add("a-bold");
    else if (code === 2) classes.add("a-dim");
    else if (code === 3) classes.add("a-italic");
    else if (code === 4) classes.add("a-under");
    else if (code === 22) { classes.delete("a-bold"); classes.delete("a-dim"); }
    else if (code >= 30 && code <= 37) colour(`a-c${code - 30}`);
    else if (code >= 90 && code <= 97) colour(`a-c${code - 90}`);
    else if (code === 39) colour("");
    else if (code === 38 || code === 48) { const kind = codes[place + 1]; if (kind === 5 && code === 38 && codes[place + 2] < 16) colour(`a-c${codes[place + 2] % 8}`); place += kind === 5 ? 2 : 4; }
  }
  return classes;
}
