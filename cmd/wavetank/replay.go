package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"wavetank/replay"
	"wavetank/replay/openai"
	"wavetank/replay/report"
	"wavetank/replay/sim"
	"wavetank/traces"
)

func replayCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "replay", Usage: "play a trace against a server", ArgsUsage: "TRACE",
		Description: `Each request leaves at its own absolute instant. The run holds every request of
the trace with its outcome; wavetank report says what came back.

--target URL is the base of an OpenAI API, such as http://127.0.0.1:8000/v1;
--target sim is the simulated engine in virtual time, without a network.

The key, if the server wants one, is taken from WAVETANK_API_KEY or from
--api-key-file. An interrupt ends the run: what is in flight may finish, and all
that came back is kept; a second one hangs up.`,
		Flags:  append(append(outputFlags("the run"), replayFlags()...), engineFlags()...),
		Action: e.replay,
	}
}

func replayFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "target", Usage: "`URL` of the server's API, or sim"},
		&cli.StringFlag{Name: "model", Usage: "ask for model `NAME` (default: as the trace says)"},
		&cli.StringFlag{Name: "api", Usage: "chat or completions", Value: string(openai.Chat)},
		&cli.StringFlag{Name: "dialect", Usage: "how answers are made as long as recorded: vllm (min_tokens, ignore_eos) or openai (max_tokens alone)", Value: string(openai.VLLM)},
		&cli.StringSliceFlag{Name: "header", Usage: "send `NAME: VALUE` with every request; may be repeated"},
		&cli.StringFlag{Name: "api-key-file", Usage: "read the key from `FILE`"},
		&cli.StringSliceFlag{Name: "allow-host", Usage: "send to `HOST` although it is neither this machine nor in a private network"},
		&cli.Float64Flag{Name: "speed", Usage: "play that many times as fast", Value: 1},
		&cli.StringFlag{Name: "rate", Usage: "ignore recorded arrivals and send so many, such as 20/s"},
		&cli.StringFlag{Name: "arrivals", Usage: "space --rate as constant or poisson", Value: string(replay.Constant)},
		&cli.IntFlag{Name: "concurrency", Usage: "closed loop: ignore recorded arrivals and keep so many in flight"},
		&cli.IntFlag{Name: "max-in-flight", Usage: "open loop: no more than so many at once; what comes late for it shows as lag"},
		&cli.DurationFlag{Name: "timeout", Usage: "of requests that have no limit of their own (default: none)"},
		&cli.DurationFlag{Name: "grace", Usage: "how long requests in flight may go on after an interrupt (default: 30s)"},
		&cli.DurationFlag{Name: "max-lag", Usage: "bound on the p99 of the lag, over which the run is INVALID", Value: report.DefaultMaxLag},
		&cli.StringFlag{Name: "salt", Usage: "of the prompts; equal salts give equal prompts (default: a fresh one, so that no cache is warm by accident)"},
		&cli.BoolFlag{Name: "no-calibrate", Usage: "send no request ahead of the run to learn what the server adds to a prompt"},
		&cli.BoolFlag{Name: "keep-gaps", Usage: "keep every pause between tokens"},
		&cli.Uint64Flag{Name: "seed", Usage: "of --arrivals poisson"},
	}
}

func (e *env) replay(c *cli.Context) error {
	path, err := one(c, "trace")
	if err != nil {
		return err
	}
	if c.String("target") == "" {
		return hint(usage("replay needs --target"), "--target sim plays against the simulated engine, without a server")
	}
	o, err := replayOptions(c)
	if err != nil {
		return err
	}
	src, err := e.openTrace(path)
	if err != nil {
		return err
	}
	defer src.Close()
	play, target, err := e.player(c, o, src.Meta())
	if err != nil {
		return err
	}
	m := e.stamp(runMeta(src.Meta(), path, target))
	if c.IsSet("seed") {
		m.Seed = &o.Seed
	}
	w, err := e.createTrace(c, m)
	if err != nil {
		return err
	}
	var rows traces.Reader = src
	if src.Meta().BlockScope == traces.ScopeSession {
		rows = new(traces.BlockRanges).Global(src) // sessions must not share prompts because they count their blocks alike
	}
	result, playErr := play(rows, w)
	if result.Partial {
		m.Partial = true
		m.Notes = append(m.Notes, fmt.Sprintf("stopped before its end: %d of the %d requests of the trace were not offered", result.NotOffered, result.Read))
		w.SetMeta(m)
	}
	if err := errors.Join(playErr, w.Close()); err != nil {
		return err
	}
	return e.conclude(c, result)
}

// A player plays a trace to a run.
type player func(traces.Reader, traces.Writer) (replay.Result, error)

// player makes ready what --target names.
func (e *env) player(c *cli.Context, o replay.Options, m traces.Meta) (player, *traces.Target, error) {
	if c.String("target") == "sim" {
		return e.virtual(c, o, m.BlockTokens)
	}
	target, t, err := e.openTarget(c, m)
	if err != nil {
		return nil, nil, err
	}
	return func(r traces.Reader, w traces.Writer) (replay.Result, error) {
		ctx, drain, stop := interrupts(c.Context, e)
		defer stop()
		o.Drain = drain
		progress := e.watch(w)
		defer progress.stop()
		defer target.Close()
		result, err := replay.Run(ctx, target, r, progress, o)
		if n := target.Repeated(); n > 0 {
			t.Options["repeated"] = fmt.Sprintf("%d requests, whose idle connection the server had closed", n)
		}
		return result, err
	}, t, nil
}

func (e *env) virtual(c *cli.Context, o replay.Options, blockTokens int32) (player, *traces.Target, error) {
	if o.Concurrency > 0 || o.MaxInFlight > 0 {
		return nil, nil, usage("--target sim plays an open loop: --concurrency and --max-in-flight need a server, such as wavetank sim")
	}
	cfg, err := engineConfig(c)
	if err != nil {
		return nil, nil, err
	}
	t := &traces.Target{URL: "sim", API: "virtual time", Model: c.String("sim-model"), Options: map[string]string{"gpu": c.String("gpu"), "config": fmt.Sprintf("%+v", cfg)}}
	return func(r traces.Reader, w traces.Writer) (result replay.Result, err error) {
		counted := traces.WriterFunc(func(rec *traces.Record) error { result.Written++; return w.Write(rec) })
		timed, err := replay.Retime(r, o)
		if err != nil {
			return result, err
		}
		_, err = sim.Run(bound(c.Context, timed), counted, cfg, blockTokens)
		result.Read, result.Offered = result.Written, result.Written
		return result, err
	}, t, nil
}

func (e *env) openTarget(c *cli.Context, m traces.Meta) (*openai.Target, *traces.Target, error) {
	header, err := headers(c.StringSlice("header"))
	if err != nil {
		return nil, nil, err
	}
	key, err := apiKey(c.String("api-key-file"))
	if err != nil {
		return nil, nil, err
	}
	if err := allowed(c.Context, c.String("target"), c.StringSlice("allow-host")); err != nil {
		return nil, nil, err
	}
	salt := c.String("salt")
	if salt == "" {
		salt = rand.Text()
	}
	target, err := openai.New(openai.Options{
		BaseURL: c.String("target"), API: openai.API(c.String("api")), Model: c.String("model"), Key: key, Header: header,
		Salt: salt, BlockTokens: int(m.BlockTokens), Dialect: openai.Dialect(c.String("dialect")), KeepGaps: c.Bool("keep-gaps"),
	})
	if err != nil {
		return nil, nil, usage("%v", err)
	}
	t := &traces.Target{URL: withoutSecrets(c.String("target")), API: c.String("api"), Model: c.String("model"), Salt: salt,
		Options: map[string]string{"dialect": c.String("dialect")}}
	return target, t, e.calibrate(c, target, t)
}

// calibrate asks the server for its model and for what it adds to a prompt.
func (e *env) calibrate(c *cli.Context, target *openai.Target, t *traces.Target) error {
	if c.Bool("no-calibrate") {
		return nil
	}
	n, err := target.Calibrate(c.Context)
	if err != nil {
		return hint(err, "--no-calibrate goes ahead without asking the server first")
	}
	t.Options["prompt_overhead"] = fmt.Sprint(n)
	if n > 0 {
		e.warn("the server adds %d tokens to a prompt: prompts are made shorter by that", n)
	}
	return nil
}

func replayOptions(c *cli.Context) (replay.Options, error) {
	rate, err := parseRate(c.String("rate"))
	o := replay.Options{
		Speed: c.Float64("speed"), Rate: rate, RateKind: replay.RateKind(c.String("arrivals")),
		Concurrency: c.Int("concurrency"), MaxInFlight: c.Int("max-in-flight"),
		Timeout: c.Duration("timeout"), Grace: c.Duration("grace"), Seed: c.Uint64("seed"),
	}
	return o, err
}

func headers(lines []string) (http.Header, error) {
	h := make(http.Header)
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, usage("--header must be NAME: VALUE")
		}
		if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); name == "Authorization" || name == "X-Api-Key" || name == "Api-Key" {
			return nil, hint(usage("--header %s: a key in a flag can be read by every user of this machine", name), "set WAVETANK_API_KEY or give --api-key-file FILE")
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

func apiKey(path string) (openai.Secret, error) {
	if path == "" {
		return openai.NewSecret(os.Getenv("WAVETANK_API_KEY")), nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return openai.Secret{}, err
	}
	return openai.NewSecret(string(b)), nil
}

// runMeta is the metadata of the run of a trace.
func runMeta(m traces.Meta, path string, t *traces.Target) traces.Meta {
	m.Kind, m.Target, m.Vantage = traces.KindRun, t, "client"
	m.Notes = nil
	if m.BlockScope == traces.ScopeSession {
		m.BlockScope = traces.ScopeGlobal
	}
	m.Edits = append(m.Edits, "replayed from "+path)
	return m
}

// interrupts makes the first interrupt close drain, the second end the context,
// and the third end the program.
func interrupts(parent context.Context, e *env) (ctx context.Context, drain <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals, drained := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			if n == 1 {
				e.warn("no more requests are sent; those in flight may end, and another interrupt hangs up")
				close(drained)
				continue
			}
			signal.Stop(signals)
			cancel()
		}
	}()
	return ctx, drained, func() { signal.Stop(signals); cancel() }
}

// conclude says in a line what the run was, and gives the program its exit code.
func (e *env) conclude(c *cli.Context, result replay.Result) error {
	path := c.String("output")
	if path == "-" {
		return nil
	}
	s, err := e.summarize(path, c)
	if err != nil {
		return err
	}
	e.warn("%s: %d rows, %s", path, result.Written, s.Verdict.Reason)
	switch {
	case result.Partial:
		return exitError{fmt.Errorf("interrupted: %d requests were not offered; %s holds what came back", result.NotOffered, path), exitInterrupted}
	case s.Verdict.State == report.Invalid:
		advice := "wavetank report " + path + " shows the lag; a machine with nothing else to do, or --speed below 1, holds the schedule"
		if s.Counts.Errors["body"]+s.Counts.Errors["endpoint"] > 0 {
			advice = "the trace has request bodies of APIs that the target does not speak; convert --drop-bodies has requests made of the counts instead"
		}
		return hint(exitError{fmt.Errorf("the run is INVALID: %s", s.Verdict.Reason), exitInvalid}, "%s", advice)
	}
	return nil
}
