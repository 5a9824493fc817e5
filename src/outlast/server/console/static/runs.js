// The table of runs: rows and texts come from the server, the selection lives here.
export default {
  template: `
  <div class="o-runs">
    <div v-if="selected.length" class="o-bulk" role="region" :aria-label="texts.selected">
      <span aria-live="polite">{{ texts.selected }}: {{ selected.length }}</span>
      <a v-if="selected.length > 1" class="o-button" :href="'/compare?runs=' + selected.join(',')">{{ texts.compare }}</a>
      <button v-if="stoppable.length" type="button" class="o-button danger" @click="$emit('stop', stoppable)">
        {{ texts.stop }} ({{ stoppable.length }})</button>
      <button type="button" class="o-button" @click="selected = []">{{ texts.clear }}</button>
    </div>
    <div class="o-scroll">
    <table class="o-table o-runs-table">
      <caption class="o-hidden">{{ texts.caption }}</caption>
      <thead><tr>
        <th scope="col" class="o-check"><input type="checkbox" :aria-label="texts.all" :checked="allSelected"
          @change="selectAll($event.target.checked)"></th>
        <th v-for="column in columns" :key="column" scope="col" :class="'c-' + column">{{ texts[column] }}</th>
      </tr></thead>
      <tbody>
        <tr v-for="row in rows" :key="row.id" :class="{ chosen: selected.includes(row.id) }">
          <td class="o-check"><input type="checkbox" :value="row.id" v-model="selected"
            :aria-label="texts.select + ' ' + row.name"></td>
          <td class="c-name"><a :href="'/runs/' + row.id" class="o-strong">{{ row.name }}</a>
            <div class="o-quiet o-small o-cut" :title="row.message || row.id">{{ row.message || row.id }}</div></td>
          <td class="c-state"><span class="o-state" :class="row.state">{{ row.stateText }}</span></td>
          <td class="c-progress"><div v-if="row.done !== null" class="o-bar" role="progressbar" aria-valuemin="0"
              aria-valuemax="100" :aria-valuenow="Math.round(row.done * 100)" :aria-label="row.far">
              <i :style="{ width: row.done * 100 + '%' }" :class="row.state"></i></div>
            <span class="o-small o-quiet o-nowrap">{{ row.far }}</span></td>
          <td class="c-curve"><div class="o-spark" v-if="row.metric">
            <svg viewBox="0 0 100 24" preserveAspectRatio="none" role="img" :aria-label="row.metric">
              <path :d="sparks[row.id] || ''" vector-effect="non-scaling-stroke"/></svg>
            <span class="o-small o-quiet o-nowrap">{{ row.metric }}</span></div></td>
          <td class="c-useful o-number">{{ row.useful }}</td>
          <td class="c-left o-number o-nowrap">{{ row.left }}</td>
          <td class="c-stints o-number">{{ row.stints }}</td>
          <td class="c-platform o-nowrap">{{ row.platform }}</td>
          <td v-if="columns.includes('user')" class="c-user o-nowrap">{{ row.user }}</td>
          <td class="c-created o-nowrap" :title="row.createdAt">{{ row.created }}</td>
        </tr>
      </tbody>
    </table>
    </div>
  </div>`,
  props: { rows: Array, sparks: Object, columns: Array, texts: Object },
  data: () => ({ selected: [] }),
  computed: {
    allSelected() { return this.rows.length > 0 && this.selected.length === this.rows.length; },
    stoppable() { return this.rows.filter((row) => row.canStop && this.selected.includes(row.id)).map((row) => row.id); },
  },
  watch: {
    rows(rows) { this.selected = this.selected.filter((id) => rows.some((row) => row.id === id)); },
  },
  methods: {
    selectAll(yes) { this.selected = yes ? this.rows.map((row) => row.id) : []; },
  },
};
