// The curves of a run. Points come from the REST API, thinned by the server; smoothing and axes are done here.
import { echarts } from "nicegui-echart";

const MOST_CHARTS = 12;
const LOOK_MS = 3000;
// More seams than this stand so close that they would hide the curve: they become faint.
const MANY_SEAMS = 24;
const seamStyle = (count, color) => (count > MANY_SEAMS
  ? { type: "solid", color, opacity: 0.18, width: 0.5 } : { type: "dashed", color, opacity: 0.7, width: 1 });

export default {
  template: `
  <div class="o-curves">
    <div v-if="!plain" class="o-curve-bar">
      <div class="o-row" role="group" :aria-label="texts.metrics">
        <input v-if="all.length > 16" v-model="filter" type="search" class="o-input" :placeholder="texts.filter"
          :aria-label="texts.filter">
        <button v-for="name in offered" :key="name" type="button" class="o-chip" :aria-pressed="shown.includes(name)"
          @click="toggle(name)">{{ name }}</button>
      </div>
      <div class="o-row o-curve-options">
        <label class="o-row">{{ texts.smooth }}
          <input type="range" min="0" max="0.99" step="0.01" v-model.number="smooth" @change="keep"></label>
        <label class="o-row">{{ texts.x }}
          <select v-model="x" class="o-input" @change="keep">
            <option v-for="each in ['auto', 'step', 'epoch', 'time']" :value="each">{{ texts[each] }}</option>
          </select></label>
        <label class="o-row"><input type="checkbox" v-model="log" @change="keep"> {{ texts.log }}</label>
        <label class="o-row"><input type="checkbox" v-model="together" @change="keep"> {{ texts.together }}</label>
      </div>
    </div>
    <p v-if="problem" class="o-refusal" role="alert">{{ problem }}</p>
    <p v-else-if="loaded && !panels.length" class="o-empty">{{ texts.none }}</p>
    <div class="o-chart-grid" :class="{ one: panels.length === 1 }">
      <figure v-for="panel in panels" :key="panel.key" class="o-panel o-figure">
        <figcaption class="o-ends"><span class="o-strong">{{ panel.title }}</span>
          <span class="o-row"><span class="o-quiet o-small">{{ panel.about }}</span>
          <button type="button" class="o-button o-tiny" @click="widen($event)" :aria-label="texts.full + ': ' + panel.title"
            :title="texts.full"><i class="material-icons" aria-hidden="true">fullscreen</i></button></span></figcaption>
        <div class="o-canvas" :data-key="panel.key" role="img" :aria-label="panel.title + ': ' + panel.about"></div>
      </figure>
    </div>
  </div>`,
  props: { run: String, names: Array, all: Array, live: Boolean, plain: Boolean, texts: Object, palette: Object },
  data() {
    const asked = new URLSearchParams(this.plain ? "" : location.search);
    const known = asked.getAll("m");
    return {
      shown: known.length ? known : this.names,
      smooth: Math.min(0.99, Math.max(0, Number(asked.get("smooth")) || 0)),
      x: ["step", "epoch", "time"].includes(asked.get("x")) ? asked.get("x") : "auto",
      log: asked.has("log"), together: asked.has("together"), filter: "", series: {}, loaded: false, problem: "",
    };
  },
  computed: {
    offered() { return this.all.filter((name) => name.includes(this.filter) || this.shown.includes(name)).slice(0, 200); },
    present() { return this.shown.filter((name) => this.series[name] && this.series[name].value.length); },
    panels() {
      const groups = this.together && this.present.length > 1 ? [this.present] : this.present.map((name) => [name]);
      return groups.map((names) => ({ key: names.join("\n"), names, title: names.join(", "), about: this.about(names) }));
    },
  },
  watch: {
    shown() { this.load(); }, smooth() { this.draw(); }, x() { this.draw(); }, log() { this.draw(); },
    together() { this.draw(); }, live(yes) { if (!yes) this.load(); },
  },
  mounted() {
    this.charts = new Map();
    this.sizes = new ResizeObserver((entries) => entries.forEach((entry) => echarts.getInstanceByDom(entry.target)?.resize()));
    this.looks = new MutationObserver(() => this.draw());
    this.looks.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    this.timer = setInterval(() => { if (this.live && !document.hidden) this.load(); }, LOOK_MS);
    this.load();
  },
  unmounted() {
    clearInterval(this.timer);
    this.sizes.disconnect();
    this.looks.disconnect();
    this.charts.forEach((chart) => chart.dispose());
  },
  methods: {
    async load() {
      if (!this.shown.length) { this.series = {}; this.loaded = true; return this.draw(); }
      const asked = new URLSearchParams({ points: "1000" });
      this.shown.forEach((name) => asked.append("name", name));
      try {
        const answer = await fetch(`/api/v1/runs/${this.run}/metrics?${asked}`);
        const body = await answer.json();
        if (!answer.ok) throw new Error(body.message);
        this.series = body.series;
        this.problem = "";
      } catch (error) {
        if (!this.loaded) this.problem = error.message;
      }
      this.loaded = true;
      this.draw();
    },
    toggle(name) {
      const others = this.shown.filter((each) => each !== name);
      this.shown = others.length < this.shown.length ? others : [...this.shown, name].slice(-MOST_CHARTS);
      this.keep();
    },
    keep() {
      const asked = new URLSearchParams();
      this.shown.forEach((name) => asked.append("m", name));
      if (this.smooth) asked.set("smooth", this.smooth);
      if (this.x !== "auto") asked.set("x", this.x);
      if (this.log) asked.set("log", "1");
      if (this.together) asked.set("together", "1");
      history.replaceState(history.state, "", `${location.pathname}?${asked}`);
    },
    widen(event) {
      const figure = event.currentTarget.closest("figure");
      if (document.fullscreenElement) document.exitFullscreen(); else figure.requestFullscreen();
    },
    about(names) {
      if (names.length > 1) return "";
      const { value, recorded } = this.series[names[0]];
      return `${short(value[value.length - 1])} · ${recorded} ${this.texts.points}`;
    },
    async draw() {
      await this.$nextTick();
      const keys = new Set(this.panels.map((panel) => panel.key));
      this.charts.forEach((chart, key) => { if (!keys.has(key)) { chart.dispose(); this.charts.delete(key); } });
      for (const panel of this.panels) {
        const element = [...this.$el.querySelectorAll(".o-canvas")].find((each) => each.dataset.key === panel.key);
        if (!element) continue;
        let chart = this.charts.get(panel.key);
        if (!chart || chart.getDom() !== element) {
          chart?.dispose();
          chart = echarts.init(element);
          this.charts.set(panel.key, chart);
          this.sizes.observe(element);
        }
        const zoom = chart.getOption()?.dataZoom;
        const option = this.option(panel.names);
        if (zoom?.length) option.dataZoom = option.dataZoom.map((each, place) => ({ ...each, start: zoom[place]?.start, end: zoom[place]?.end }));
        chart.setOption(option, { replaceMerge: ["series"] });
      }
    },
    option(names) {
      const style = getComputedStyle(document.body);
      const colour = (name) => style.getPropertyValue(name).trim();
      const lines = this.palette[document.body.classList.contains("body--dark") ? "dark" : "light"];
      const kind = this.x === "auto" ? bestAxis(names.map((name) => this.series[name])) : this.x;
      const series = names.flatMap((name, place) => this.lines(name, lines[place % lines.length], kind, colour, place === 0));
      const label = { color: colour("--o-quiet"), fontSize: 11, hideOverlap: true };
      const rule = { lineStyle: { color: colour("--o-line") } };
      return {
        animation: false, grid: { left: 52, right: 18, top: names.length > 1 ? 48 : 26, bottom: 34 },
        legend: names.length > 1 ? { data: names, top: 18, textStyle: { color: colour("--o-text") } } : { show: false },
        tooltip: { trigger: "axis", confine: true, backgroundColor: colour("--o-raised"), borderColor: colour("--o-line"),
          textStyle: { color: colour("--o-text"), fontSize: 12 }, valueFormatter: short },
        toolbox: { right: 10, top: -4, itemSize: 12, iconStyle: { borderColor: colour("--o-quiet") },
          feature: { dataZoom: { yAxisIndex: "none", title: { zoom: this.texts.zoom, back: this.texts.back } },
            saveAsImage: { title: this.texts.save, name: `${this.run}-${names.join("-")}`, backgroundColor: colour("--o-page") } } },
        dataZoom: [{ type: "inside", zoomOnMouseWheel: "shift", moveOnMouseMove: true, filterMode: "none" }],
        xAxis: { type: "value", min: "dataMin", max: "dataMax", axisLabel: { ...label, formatter: short }, axisLine: rule, splitLine: { show: false },
          name: this.texts[kind], nameLocation: "middle", nameGap: 20, nameTextStyle: label },
        yAxis: { type: this.log ? "log" : "value", scale: true, axisLabel: { ...label, formatter: short }, splitLine: rule },
        series,
      };
    },
    lines(name, line, kind, colour, first) {
      const one = this.series[name];
      const xs = axis(one, kind);
      const kept = [], again = [];
      one.value.forEach((value, place) => {
        if (xs[place] === null) return;
        const usable = value !== null && !(this.log && value <= 0);
        (one.replayed[place] ? again : kept).push([xs[place], usable ? value : null]);
        if (one.replayed[place] && !one.replayed[place + 1]) again.push([xs[place], null]);
      });
      kept.sort((a, b) => a[0] - b[0]);
      const seams = one.seams.map((place) => xs[place]).filter((x) => x !== null);
      const base = { type: "line", showSymbol: kept.length < 3, symbolSize: 4, sampling: undefined };
      const found = [{ ...base, name, data: this.smooth ? smoothed(kept, this.smooth) : kept, color: line,
        lineStyle: { width: 1.6, color: line }, z: 3,
        markLine: first ? { symbol: "none", silent: true, label: { show: false }, animation: false,
          lineStyle: seamStyle(seams.length, colour("--o-quiet")), data: seams.map((x) => ({ xAxis: x })) } : undefined }];
      if (this.smooth) found.push({ ...base, data: kept, color: line, lineStyle: { width: 1, color: line, opacity: 0.25 }, silent: true, tooltip: { show: false }, z: 2 });
      if (again.length) found.push({ ...base, name: this.texts.replayed, data: again, color: colour("--o-quiet"),
        lineStyle: { width: 1.2, color: colour("--o-quiet"), opacity: 0.55 }, silent: true, z: 1 });
      return found;
    },
  },
};

function axis(one, kind) {
  if (kind === "step") return one.step;
  if (kind === "epoch") return one.epoch;
  const longest = {};
  one.stint.forEach((stint, place) => { longest[stint] = Math.max(longest[stint] || 0, one.at_s[place]); });
  const before = (stint) => Object.keys(longest).filter((each) => Number(each) < stint).reduce((sum, each) => sum + longest[each], 0);
  const offsets = Object.fromEntries(Object.keys(longest).map((stint) => [stint, before(Number(stint))]));
  return one.stint.map((stint, place) => offsets[stint] + one.at_s[place]);
}

function bestAxis(all) {
  const known = (field) => all.every((one) => one && one[field].some((value) => value !== null));
  return known("step") ? "step" : known("epoch") ? "epoch" : "time";
}

// An exponential mean whose first values are not drawn towards zero.
function smoothed(points, weight) {
  let sum = 0, total = 0;
  return points.map(([x, y]) => {
    if (y === null) return [x, null];
    sum = sum * weight + y * (1 - weight);
    total = total * weight + (1 - weight);
    return [x, sum / total];
  });
}

function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return Number(value).toExponential(1);
  return String(Number(Number(value).toPrecision(4)));
}
