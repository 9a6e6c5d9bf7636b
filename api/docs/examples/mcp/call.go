//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

const call = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "synthesize_speech",
	"arguments": {"text": "Good morning!", "voice": "F1", "language": "en"}}}`

func main() {
	request, err := http.NewRequest("POST", os.Getenv("PARLEY_URL")+"/mcp", strings.NewReader(call))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Result struct {
			Content []struct {
				MimeType string
				Data     []byte // decoded from base64
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		log.Fatal(err)
	}
	for _, c := range got.Result.Content {
		fmt.Printf("%s: %d bytes\n", c.MimeType, len(c.Data))
	}
}
