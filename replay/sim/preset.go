package sim

import (
	"fmt"
	"math"
	"strings"
)

// A Model is what of a language model decides its speed: a dense decoder in
// bf16, as its published config.json and model card give it.
type Model struct {
	Name       string
	Parameters float64 // all of them
	Layers     int
	Heads      int // of queries
	KVHeads    int
	HeadDim    int
	MaxLen     int32  // tokens of prompt and output
	Source     string // where the figures are published
}

// Models lists the models that Preset knows.
var Models = []Model{
	{"llama-3.1-8b", 8.03e9, 32, 32, 8, 128, 131072, "config.json of meta-llama/Llama-3.1-8B"},
	{"llama-3.1-70b", 70.6e9, 80, 64, 8, 128, 131072, "config.json of meta-llama/Llama-3.1-70B"},
	{"mistral-7b-v0.3", 7.25e9, 32, 32, 8, 128, 32768, "config.json of mistralai/Mistral-7B-v0.3"},
	{"qwen2.5-7b", 7.62e9, 28, 28, 4, 128, 32768, "model card and config.json of Qwen/Qwen2.5-7B-Instruct"},
	{"qwen3-8b", 8.2e9, 36, 32, 8, 128, 40960, "model card and config.json of Qwen/Qwen3-8B"},
	{"qwen3-32b", 32.8e9, 64, 64, 8, 128, 40960, "model card and config.json of Qwen/Qwen3-32B"},
}

// A GPU is what of an accelerator decides its speed, by its data sheet.
type GPU struct {
	Name      string
	Memory    float64 // bytes
	Bandwidth float64 // bytes a second
	Flops     float64 // dense bf16 operations a second; sheets that print sparse figures print the double
	Source    string
}

// GPUs lists the accelerators that Preset knows.
var GPUs = []GPU{
	{"h100-sxm", 80e9, 3.35e12, 989e12, "NVIDIA H100 Tensor Core GPU data sheet, SXM5"},
	{"h200-sxm", 141e9, 4.8e12, 989e12, "NVIDIA H200 Tensor Core GPU data sheet, SXM"},
	{"a100-80gb-sxm", 80e9, 2.039e12, 312e12, "NVIDIA A100 Tensor Core GPU data sheet, 80 GB SXM"},
	{"l40s", 48e9, 0.864e12, 362e12, "NVIDIA L40S data sheet"},
	{"l4", 24e9, 0.3e12, 121e12, "NVIDIA L4 data sheet"},
	{"mi300x", 192e9, 5.3e12, 1307e12, "AMD Instinct MI300X data sheet"},
}

// The preset that a zero Config stands for.
const (
	DefaultModel = "llama-3.1-8b"
	DefaultGPU   = "h100-sxm"
)

// What the formulas assume beyond the published figures.
const (
	bytesPerValue     = 2      // bf16
	memoryEfficiency  = 0.8    // of the peak bandwidth
	flopEfficiency    = 0.5    // of the peak rate
	memoryShare       = 0.9    // of the memory for weights and KV, vLLM's default gpu_memory_utilization
	stepOverhead      = 500e-6 // s: scheduling and launching a step
	decodeOverhead    = 5e-6   // s: sampling and detokenizing for one request
	presetBlockTokens = 16
)

// Preset returns the engine of one model on one GPU by formula. With weights of
// W bytes, P parameters, K = 2·layers·kv heads·head dim·bytes of KV a token,
// bandwidth M and peak rate F at efficiencies e_m = 0.8 and e_f = 0.5:
//
//	C0 = W/(e_m·M) + 0.5 ms    C1 = 2P/(e_f·F)    C2 = 5 µs
//	C3 = K/(e_m·M)             C4 = 4·layers·heads·head dim/(e_f·F)
//	blocks = (0.9·memory − W)/(16·K)
//
// It returns an error for a name that is not in Models or GPUs, and for a model
// whose weights do not fit. It says what such a pair does in principle; it is
// no measurement of one.
func Preset(model, gpu string) (Config, error) {
	m, err := lookup("model", model, Models, func(m Model) string { return m.Name })
	if err != nil {
		return Config{}, err
	}
	g, err := lookup("gpu", gpu, GPUs, func(g GPU) string { return g.Name })
	if err != nil {
		return Config{}, err
	}
	weights := m.Parameters * bytesPerValue
	perToken := float64(2 * m.Layers * m.KVHeads * m.HeadDim * bytesPerValue)
	blocks := (memoryShare*g.Memory - weights) / (presetBlockTokens * perToken)
	if blocks < 1 {
		return Config{}, fmt.Errorf("sim: %s needs %.0f GB for its weights, and %s gives %.0f GB (%.0f %% of its memory)",
			m.Name, weights/1e9, g.Name, memoryShare*g.Memory/1e9, memoryShare*100)
	}
	bandwidth, flops := memoryEfficiency*g.Bandwidth, flopEfficiency*g.Flops
	return Config{
		Model:       m.Name,
		BlockTokens: presetBlockTokens,
		Blocks:      int32(blocks),
		MaxModelLen: m.MaxLen,
		Cost: Cost{
			C0: picoseconds(weights/bandwidth + stepOverhead),
			C1: picoseconds(2 * m.Parameters / flops),
			C2: picoseconds(decodeOverhead),
			C3: picoseconds(perToken / bandwidth),
			C4: picoseconds(float64(4*m.Layers*m.Heads*m.HeadDim) / flops),
		},
	}, nil
}

func picoseconds(s float64) Picoseconds { return Picoseconds(math.Round(s * 1e12)) }

func lookup[T any](kind, name string, table []T, nameOf func(T) string) (found T, err error) {
	var names []string
	for _, t := range table {
		if nameOf(t) == name {
			return t, nil
		}
		names = append(names, nameOf(t))
	}
	return found, fmt.Errorf("sim: no %s %q; there are %s", kind, name, strings.Join(names, ", "))
}
