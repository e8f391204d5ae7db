package sim

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"
)

// A histogram counts observations, in seconds, by upper bound.
type histogram struct {
	bounds []float64
	counts []int64 // one more than bounds: those above all
	sum    float64
}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(h.bounds, d.Seconds())
	h.counts[i]++
	h.sum += d.Seconds()
}

// The bounds are vLLM's own, so that quantiles computed from either compare.
var (
	firstTokenBounds = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tokenBounds      = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBounds    = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// gauges is what the server tells of the requests that went through it, in real time.
type gauges struct {
	finished                                      map[string]int64 // requests by reason
	first, between, whole, queue, prefill, decode histogram
}

func newGauges() gauges {
	of := func(bounds []float64) histogram {
		return histogram{bounds: bounds, counts: make([]int64, len(bounds)+1)}
	}
	return gauges{
		finished: map[string]int64{"stop": 0, "length": 0, "abort": 0},
		first:    of(firstTokenBounds),
		between:  of(tokenBounds),
		whole:    of(requestBounds),
		queue:    of(requestBounds),
		prefill:  of(requestBounds),
		decode:   of(requestBounds),
	}
}

// token takes note of the token that c has just got.
func (g *gauges) token(c *call, real func(time.Duration) time.Duration) {
	if c.last == 0 {
		g.first.observe(real(c.Last - c.Arrived))
	} else {
		g.between.observe(real(c.Last - c.last))
	}
	if c.tokens.Load()+1 < c.Output {
		return
	}
	g.finished[c.finish]++
	g.whole.observe(real(c.Last - c.Arrived))
	g.queue.observe(real(c.Admitted - c.Arrived))
	g.prefill.observe(real(c.First - c.Admitted))
	g.decode.observe(real(c.Last - c.First))
}

// exposition writes metrics in Prometheus' text format 0.0.4.
type exposition struct {
	w      io.Writer
	labels string // of every sample
}

func (x exposition) head(name, kind, help string) {
	fmt.Fprintf(x.w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (x exposition) value(name, kind, help string, v float64) {
	x.head(name, kind, help)
	fmt.Fprintf(x.w, "%s{%s} %s\n", name, x.labels, decimal(v))
}

func (x exposition) histogram(name, help string, h *histogram) {
	x.head(name, "histogram", help)
	var n int64
	for i, bound := range h.bounds {
		n += h.counts[i]
		fmt.Fprintf(x.w, "%s_bucket{%s,le=\"%s\"} %d\n", name, x.labels, decimal(bound), n)
	}
	n += h.counts[len(h.bounds)]
	fmt.Fprintf(x.w, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %s\n%s_count{%s} %d\n",
		name, x.labels, n, name, x.labels, decimal(h.sum), name, x.labels, n)
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// writeMetrics writes the figures under the names that vLLM gives them.
func (l *live) writeMetrics(w io.Writer, model string) {
	c := l.counters()
	l.mu.Lock()
	defer l.mu.Unlock()
	x := exposition{w, fmt.Sprintf("engine=\"0\",model_name=%q", model)}
	x.value("vllm:num_requests_running", "gauge", "Requests in the batch.", float64(c.Running))
	x.value("vllm:num_requests_waiting", "gauge", "Requests in the queue.", float64(c.Waiting))
	x.value("vllm:kv_cache_usage_perc", "gauge", "Share of KV blocks in use, 0 to 1.", float64(c.UsedBlocks)/float64(c.Blocks))
	x.value("vllm:prefix_cache_queries_total", "counter", "Tokens looked up in the prefix cache.", float64(c.PrefixQueries))
	x.value("vllm:prefix_cache_hits_total", "counter", "Tokens found in the prefix cache.", float64(c.PrefixHits))
	x.value("vllm:num_preemptions_total", "counter", "Preemptions.", float64(c.Preemptions))
	x.value("vllm:prompt_tokens_total", "counter", "Prompt tokens, cached ones included.", float64(c.Prompt))
	x.value("vllm:generation_tokens_total", "counter", "Generated tokens.", float64(c.Generated))
	x.head("vllm:request_success_total", "counter", "Finished requests by reason.")
	for _, reason := range slices.Sorted(maps.Keys(l.gauge.finished)) {
		fmt.Fprintf(w, "vllm:request_success_total{%s,finished_reason=%q} %d\n", x.labels, reason, l.gauge.finished[reason])
	}
	x.histogram("vllm:time_to_first_token_seconds", "From arrival to the first token.", &l.gauge.first)
	x.histogram("vllm:inter_token_latency_seconds", "Between two tokens.", &l.gauge.between)
	x.histogram("vllm:e2e_request_latency_seconds", "From arrival to the last token.", &l.gauge.whole)
	x.histogram("vllm:request_queue_time_seconds", "From arrival to the first step.", &l.gauge.queue)
	x.histogram("vllm:request_prefill_time_seconds", "From the first step to the first token.", &l.gauge.prefill)
	x.histogram("vllm:request_decode_time_seconds", "From the first token to the last.", &l.gauge.decode)
	x.head("vllm:cache_config_info", "gauge", "The KV cache.")
	fmt.Fprintf(w, "vllm:cache_config_info{block_size=\"%d\",enable_prefix_caching=%q,engine=\"0\",num_gpu_blocks=\"%d\"} 1\n",
		l.engine.cfg.BlockTokens, []string{PrefixCache: "True", NoPrefixCache: "False"}[l.engine.cfg.Cache], c.Blocks)
}
