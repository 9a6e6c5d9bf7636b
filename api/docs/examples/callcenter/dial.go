//go:build ignore

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func ask(method, path, body string) *http.Response {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode >= 400 {
		log.Fatal(answer.Status)
	}
	return answer
}

func read(answer *http.Response, into any) {
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		log.Fatal(err)
	}
}

func main() {
	var own struct {
		Numbers []struct {
			PhoneNumber string `json:"phone_number"`
		}
	}
	read(ask("GET", "/callcenter/numbers", ""), &own)
	order, err := json.Marshal(map[string]any{
		"from": own.Numbers[0].PhoneNumber, "to": "+12025550100", "agent_id": os.Getenv("AGENT_ID"),
		"consent_confirmed": true, // only when the callee has agreed to be called
	})
	if err != nil {
		log.Fatal(err)
	}
	var call struct {
		ID     string `json:"call_id"`
		Status string
	}
	read(ask("POST", "/callcenter/dial", string(order)), &call)

	events := ask("GET", "/callcenter/sse/call-monitor?call_id="+call.ID, "")
	for lines := bufio.NewScanner(events.Body); lines.Scan(); {
		if event, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			fmt.Println(event)
			if strings.Contains(event, `"type":"transcript"`) {
				break // the first words are enough
			}
		}
	}
	events.Body.Close()
	read(ask("GET", "/callcenter/call-monitor?call_id="+call.ID, ""), &call)
	fmt.Println(call.Status)
	read(ask("POST", "/callcenter/hangup/"+call.ID, ""), &call)
	fmt.Println(call.Status)

	// Of a call that has ended the stream tells everything at once.
	again := ask("GET", "/v1/calls/"+call.ID+"/events", "")
	defer again.Body.Close()
	if _, err := io.Copy(os.Stdout, again.Body); err != nil {
		log.Fatal(err)
	}
}
