package formats

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// A capture is the same in whatever encoding it is written, and an answer the same
// whether it came whole or as a stream.
func TestSageMakerEncodings(t *testing.T) {
	const ask = `{"messages":[{"role":"user","content":"ü"}],"max_tokens":4096,"model":"m"}`
	const whole = `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":30}}`
	const stream = "data: {\"choices\":[{\"delta\":{}}]}\n\ndata: {\"choices\":[{\"finish_reason\":\"stop\"}]}\r\n\r\ndata:{\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":30}}\n\ndata: [DONE]\n\n"
	row := func(in, out, encoding string) string {
		if encoding == "BASE64" {
			in, out = base64.StdEncoding.EncodeToString([]byte(in)), base64.StdEncoding.EncodeToString([]byte(out))
		}
		part := func(data string) string {
			text, err := json.Marshal(map[string]string{"data": data, "encoding": encoding})
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		return fmt.Sprintf(`{"captureData":{"endpointInput":%s,"endpointOutput":%s},"eventMetadata":{"eventId":"e","inferenceTime":"2026-04-29T00:03:18Z"}}`, part(in), part(out))
	}
	want := one(t, row(ask, whole, "JSON"), Options{})
	if want.OutputTokens.V != 30 || want.MaxTokens.V != 4096 || want.Outcome.Status != "ok" {
		t.Errorf("%+v", want)
	}
	for _, log := range []string{row(ask, whole, "BASE64"), row(ask, stream, "JSON"), row(ask, stream, "BASE64")} {
		if got := one(t, log, Options{}); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
