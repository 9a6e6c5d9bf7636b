package exchange

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestMasked: what differs from run to run is gone, wherever it stands, and of audio the length is left.
func TestMasked(t *testing.T) {
	got, err := Masked([]byte(`{"type": "response.output_audio.delta", "delta": "AAAA", "id": "r1", "inner": [{"created": 17.5, "delta": "text", "audio": null}]}`))
	if want := `{"delta":"4 characters","id":"…","inner":[{"audio":null,"created":0,"delta":"text"}],"type":"response.output_audio.delta"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := Masked([]byte("no JSON")); err == nil {
		t.Error("it is JSON")
	}
}

// TestHidden: no words, no key; what the protocol is made of stays.
func TestHidden(t *testing.T) {
	const key = "sk-secret-0123456789"
	for message, want := range map[string]string{
		`{"type":"TurnInfo","event":"EndOfTurn","transcript":"Monday","words":[{"word":"Monday,","start":0.25}],"model":"flux-general-en"}`: `{"event":"EndOfTurn","model":"flux-general-en","transcript":"Xxxxxx","type":"TurnInfo","words":[{"start":0.25,"word":"Xxxxxx,"}]}`,
		`{"tokens":[{"text":"<fin>","is_final":true},{"text":" mon"}]}`:                                                                     `{"tokens":[{"is_final":true,"text":"\u003cfin\u003e"},{"text":" xxx"}]}`,
		`{"alignment":{"chars":["F","i"],"charStartTimesMs":[0,60]}}`:                                                                       `{"alignment":{"charStartTimesMs":[0,60],"chars":["X","x"]}}`,
		`{"delta":{"type":"text_delta","text":"At 9, yes."}}`:                                                                               `{"delta":{"text":"Xx 0, xxx.","type":"text_delta"}}`,
		`{"error":{"code":"invalid_api_key","message":"Incorrect key ` + key + `"},"hint":"` + key + `"}`:                                   `{"error":{"code":"invalid_api_key","message":"Xxxxxxxxx xxx xx-xxxxxx-0000000000"},"hint":"xx-xxxxxx-0000000000"}`,
		`{"type":"chunk","data":"640 characters","id":"…"}`:                                                                                 `{"data":"640 characters","id":"…","type":"chunk"}`,
		`{"news":"a sentence in a new field"}`:                                                                                              `{"news":"x xxxxxxxx xx x xxx xxxxx"}`,
		`{"news":"` + strings.Repeat("ab ", 200) + `"}`:                                                                                     `{"news":"600 characters"}`,
	} {
		if got, ok := Secret(key).Hidden([]byte(message)); !ok || string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", message, got, want)
		}
	}
	if _, ok := Secret("").Hidden([]byte("finalize")); ok {
		t.Error("it is JSON")
	}
}

func TestPath(t *testing.T) {
	for path, want := range map[string]string{
		"/v2/listen?model=flux-general-en&eot_threshold=.7&keyterm=Ana&keyterm=half+board&tag=ours": "/v2/listen?model=flux-general-en&eot_threshold=.7&keyterm=Xxx&keyterm=xxxx+xxxxx&tag=xxxx",
		"/v1/models/m:stream?alt=sse&key=k-123456":                                                  "/v1/models/m:stream?alt=sse&key=x-000000",
		"/transcribe-websocket": "/transcribe-websocket",
	} {
		if got := Secret("k-123456").Path(path); got != want {
			t.Errorf("%s\n got %s\nwant %s", path, got, want)
		}
	}
}

func TestWord(t *testing.T) {
	for message, want := range map[string]string{"finalize": "finalize", "[DONE]": "[DONE]", "Bad Gateway": "Xxx Xxxxxxx", "key k-123456": "xxx x-000000", "k-123456": "x-000000"} {
		if got := Secret("k-123456").Word(message); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

// TestLine: an exchange has no fields that say nothing.
func TestLine(t *testing.T) {
	b, err := json.Marshal(Line{From: Client, MS: 20, Bytes: 640, Level: -20})
	if want := `{"from":"client","ms":20,"binary_bytes":640,"level_dbfs":-20}`; err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}
