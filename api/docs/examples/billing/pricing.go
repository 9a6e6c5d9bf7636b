//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	answer, err := http.Get(os.Getenv("PARLEY_URL") + "/v1/pricing")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var card struct {
		Version, Currency string
		Agent             struct {
			PlatformPerMinute json.Number `json:"platform_per_minute"`
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&card); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Card %s: a minute with an agent costs %s %s\n", card.Version, card.Agent.PlatformPerMinute, card.Currency)
}
