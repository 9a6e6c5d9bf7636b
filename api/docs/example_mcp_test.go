package docs_test

import (
	"fmt"
)

const call = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "synthesize_speech",
	"arguments": {"text": "Good morning!", "voice": "F1", "language": "en"}}}`

func Example_call() {
	var got struct {
		Result struct {
			Content []struct {
				MimeType string
				Data     []byte // decoded from base64
			}
		}
	}
	read(send("POST", "/mcp", call, "Accept", "application/json, text/event-stream"), &got)
	for _, c := range got.Result.Content {
		fmt.Printf("%s: %d bytes\n", c.MimeType, len(c.Data))
	}
}
