//go:build ignore

package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
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
	if method == "POST" {
		request.Header.Set("Idempotency-Key", rand.Text()) // safe to send again after a lost answer
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		log.Fatal(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		log.Fatal(err)
	}
}

type number struct {
	ID, Status  string
	PhoneNumber string  `json:"phone_number"`
	Monthly     float64 `json:"monthly_cost"` // of those for sale
	Upfront     float64 `json:"upfront_cost"`
}

func main() {
	var status struct{ Carrier string }
	ask("GET", "/callcenter/status", "", &status)
	var team struct{ Agents []struct{ ID, Name string } }
	ask("GET", "/callcenter/agents", "", &team)
	fmt.Println(status.Carrier, team.Agents)

	var found struct{ Numbers []number }
	ask("GET", "/callcenter/numbers/search?country_code=IT&page=1", "", &found)
	var bought number
	for _, one := range found.Numbers {
		if one.Monthly <= 5 && one.Upfront <= 5 {
			// It is charged at once.
			ask("POST", "/callcenter/numbers", fmt.Sprintf(`{"phone_number": %q, "agent_id": %q}`, one.PhoneNumber, os.Getenv("AGENT_ID")), &bought)
			break
		}
	}

	// Now another agent, or with an empty agent_id nobody, answers it.
	ask("POST", "/callcenter/numbers/"+bought.ID+"/assign", `{"agent_id": ""}`, &bought)
	var mine struct{ Numbers []number }
	ask("GET", "/callcenter/numbers", "", &mine)
	for _, one := range mine.Numbers {
		fmt.Println(one.PhoneNumber, one.Status) // pending for a while, with some carriers
	}

	var gone struct{ Released bool }
	ask("DELETE", "/callcenter/numbers/"+bought.ID, "", &gone) // for good: it cannot be recovered
	fmt.Println("released", gone.Released)
}
