// Package testdata holds the public data that the demo and the tests run on.
package testdata

import _ "embed"

// AzureConv is the hour of the Azure conversation trace of 2023 as published,
// compressed: AzureLLMInferenceTrace_conv.csv.gz.
//
//go:embed logs/azure/AzureLLMInferenceTrace_conv.csv.gz
var AzureConv []byte
