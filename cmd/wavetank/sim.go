package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"wavetank/replay/sim"
)

// engineFlags set up a simulated engine.
func engineFlags() []cli.Flag {
	var models, gpus []string
	for _, m := range sim.Models {
		models = append(models, m.Name)
	}
	for _, g := range sim.GPUs {
		gpus = append(gpus, g.Name)
	}
	return []cli.Flag{
		&cli.StringFlag{Name: "sim-model", Usage: "simulate `NAME`: " + strings.Join(models, ", "), Value: sim.DefaultModel},
		&cli.StringFlag{Name: "gpu", Usage: "on `NAME`: " + strings.Join(gpus, ", "), Value: sim.DefaultGPU},
		&cli.IntFlag{Name: "max-batched-tokens", Usage: "tokens a step (default: 8192)"},
		&cli.IntFlag{Name: "max-seqs", Usage: "requests that run at once (default: 256)"},
		&cli.IntFlag{Name: "kv-block-tokens", Usage: "tokens a KV block (default: 16)"},
		&cli.IntFlag{Name: "kv-blocks", Usage: "KV blocks in memory (default: what fits beside the weights)"},
		&cli.BoolFlag{Name: "no-prefix-cache", Usage: "compute every prompt anew"},
		&cli.DurationFlag{Name: "c0", Usage: "a step's fixed time (default: by the published figures of the model and the GPU)"},
		&cli.DurationFlag{Name: "c1", Usage: "time of a token of prefill (default: as c0)"},
		&cli.DurationFlag{Name: "c2", Usage: "time of a decoding request in a step (default: as c0)"},
		&cli.Float64Flag{Name: "c3-ns", Usage: "nanoseconds of a token of context of a decoding request (default: as c0)"},
		&cli.Float64Flag{Name: "c4-ns", Usage: "nanoseconds of a token of prefill times a token before it (default: as c0)"},
	}
}

func engineConfig(c *cli.Context) (sim.Config, error) {
	cfg, err := sim.Preset(c.String("sim-model"), c.String("gpu"))
	if err != nil {
		return cfg, usage("%v", err)
	}
	set(&cfg.MaxBatchedTokens, int32(c.Int("max-batched-tokens")))
	set(&cfg.MaxSeqs, c.Int("max-seqs"))
	set(&cfg.BlockTokens, int32(c.Int("kv-block-tokens")))
	set(&cfg.Blocks, int32(c.Int("kv-blocks")))
	set(&cfg.Cost.C0, sim.Picoseconds(1000*c.Duration("c0")))
	set(&cfg.Cost.C1, sim.Picoseconds(1000*c.Duration("c1")))
	set(&cfg.Cost.C2, sim.Picoseconds(1000*c.Duration("c2")))
	set(&cfg.Cost.C3, sim.Picoseconds(1000*c.Float64("c3-ns")))
	set(&cfg.Cost.C4, sim.Picoseconds(1000*c.Float64("c4-ns")))
	if c.Bool("no-prefix-cache") {
		cfg.Cache = sim.NoPrefixCache
	}
	return cfg, nil
}

func set[T comparable](dst *T, v T) {
	if v != *new(T) {
		*dst = v
	}
}

func simCommand(e *env) *cli.Command {
	var faults strings.Builder
	for _, f := range sim.Faults {
		fmt.Fprintf(&faults, "   %-28s %s\n", strings.TrimSuffix(f.Name+"="+f.Form, "="), f.About)
	}
	return &cli.Command{
		Name: "sim", Usage: "serve the OpenAI API from a simulated engine",
		Description: "Chat completions and completions with streaming, /v1/models, /health, and /metrics\nunder vLLM's names. It simulates a scheduler with continuous batching, KV blocks\nand a prefix cache; it is not a measurement of any GPU.\n\nFaults, for --faults and for the request header X-Sim-Fault; several with commas\nbetween, each for a share of the requests with NAME=VALUE@SHARE:\n" + faults.String(),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to serve on", Value: "127.0.0.1:8000"},
			&cli.StringFlag{Name: "served-model", Usage: "`NAME` that the server gives its model", Value: "sim"},
			&cli.IntFlag{Name: "template-tokens", Usage: "tokens that the chat template adds to a prompt"},
			&cli.Float64Flag{Name: "mean-output", Usage: "mean length of an answer that may end by itself (default: 200)"},
			&cli.Float64Flag{Name: "sim-speed", Usage: "engine seconds a second", Value: 1},
			&cli.StringFlag{Name: "faults", Usage: "misbehave, see above"},
			&cli.Uint64Flag{Name: "seed", Usage: "of answer lengths and shares of faults"},
		}, engineFlags()...),
		Action: e.sim,
	}
}

func (e *env) sim(c *cli.Context) error {
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt)
	defer stop()
	cfg, err := engineConfig(c)
	if err != nil {
		return err
	}
	cfg.Model, cfg.TemplateTokens = c.String("served-model"), int32(c.Int("template-tokens"))
	cfg.MeanOutput, cfg.Speed = c.Float64("mean-output"), c.Float64("sim-speed")
	cfg.Faults, cfg.Seed = c.String("faults"), c.Uint64("seed")
	served, err := serveSim(cfg, c.String("listen"))
	if err != nil {
		return err
	}
	e.warn("simulated engine at http://%s/v1, model %s", served.addr, cfg.Model)
	<-ctx.Done()
	return served.close()
}

// A simServer is a simulated engine that listens.
type simServer struct {
	addr   string
	engine *sim.Server
	http   *http.Server
}

func serveSim(cfg sim.Config, addr string) (*simServer, error) {
	engine, err := sim.NewServer(cfg)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		engine.Close()
		return nil, err
	}
	s := &simServer{l.Addr().String(), engine, &http.Server{Handler: engine, ReadHeaderTimeout: 10 * time.Second}}
	go s.http.Serve(l)
	return s, nil
}

func (s *simServer) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.engine.Close()
	if err := s.http.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.http.Close()
}
