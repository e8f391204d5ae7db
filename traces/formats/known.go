package formats

// A work is a published data set.
type work struct{ licence, attribution string }

var (
	azure2023 = work{"CC-BY-4.0", "AzurePublicDataset, Microsoft Azure; Patel et al., Splitwise, ISCA 2024"}
	fast25    = work{"Apache-2.0", "Mooncake, kvcache-ai; Qin et al., FAST 2025"}
)

// known holds published files by the SHA-256 of their decompressed bytes. Only
// the bytes are proof: invented rows go about under the names of real data sets,
// and a user's own log in a public grammar is nobody else's work.
var known = map[string]work{
	"54e9a6d2a4bd06ba1e060304b900abbc74cbea53de96506e60fe5bb4f2277fb6": azure2023, // AzureLLMInferenceTrace_code.csv
	"2f1e5b666d4e3055fdbba98598ce2ec307767b9064e03e2fa46676dbcc7d0bf8": azure2023, // AzureLLMInferenceTrace_conv.csv
	"b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df": fast25,    // conversation_trace.jsonl
	"bd070915a98fc0ed264d7cfef2ce746002eb3076a695ec31ba2674c0111ec131": fast25,    // synthetic_trace.jsonl
}
