//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func ask(method, path, body string, into any) {
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
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode >= 400 {
		log.Fatalf("%s: %s", answer.Status, got)
	}
	if into != nil {
		if err := json.Unmarshal(got, into); err != nil {
			log.Fatal(err)
		}
	}
}

func main() {
	// Something that costs.
	ask("POST", "/tts/synthesize", `{"text": "This costs me.", "voice": "F1", "language": "en"}`, nil)

	var ledger struct {
		Data []struct {
			At           string
			Amount       json.Number // amounts are exact
			BalanceAfter json.Number `json:"balance_after"`
			Component    string
			SessionID    string `json:"session_id"`
		}
	}
	ask("GET", "/v1/ledger?kind=usage&limit=100", "", &ledger)
	for _, entry := range ledger.Data {
		if entry.Component != "tts" {
			continue
		}
		fmt.Printf("%s %s USD, then there were %s USD\n", entry.At, entry.Amount, entry.BalanceAfter)
		var receipt struct {
			Lines []struct {
				Component, Unit  string
				Quantity, Amount json.Number
			}
			Total        json.Number
			PriceVersion string `json:"price_version"`
		}
		ask("GET", "/v1/calls/"+entry.SessionID+"/receipt", "", &receipt)
		for _, l := range receipt.Lines {
			fmt.Printf("%s: %s %ss, %s USD\n", l.Component, l.Quantity, l.Unit, l.Amount)
		}
		fmt.Printf("total %s USD by rate card %s\n", receipt.Total, receipt.PriceVersion)
		return
	}
}
