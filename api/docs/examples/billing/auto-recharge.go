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

type settings struct {
	Enabled     bool
	CardSaved   bool                     `json:"card_saved"`
	Charged     json.Number              `json:"charged_this_month"`
	MonthlyCap  json.Number              `json:"monthly_cap"`
	LastFailure *struct{ Reason string } `json:"last_failure"`
}

func recharge(method, body string) (now settings) {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+"/v1/auto-recharge", strings.NewReader(body))
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
	if answer.StatusCode >= 400 {
		log.Fatal(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&now); err != nil {
		log.Fatal(err)
	}
	return now
}

func main() {
	// A card has to have paid a top-up before this can be enabled.
	now := recharge("GET", "")
	if now.LastFailure != nil {
		fmt.Println("The last charge failed:", now.LastFailure.Reason)
	}
	recharge("PUT", fmt.Sprintf(`{"enabled": %t, "threshold": 10, "amount": 50, "monthly_cap": 200}`, now.CardSaved))
	// What is not sent stays as it is.
	now = recharge("PATCH", `{"monthly_cap": 300}`)
	fmt.Println(now.Charged, "of", now.MonthlyCap, "charged this month")
}
