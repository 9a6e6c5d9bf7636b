//go:build ignore

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func ask(method, path string, body, into any) {
	text, err := json.Marshal(body)
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, bytes.NewReader(text))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	if path == "/callcenter/bulk-dial" && method == "POST" {
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

type batch struct {
	ID, Name, State string
	Counts          map[string]int
	Rows            []struct {
		To, Status string
		EndReason  *string `json:"end_reason"`
		Cost       float64
		Summary    *string
	}
}

func main() {
	var own struct {
		Numbers []struct {
			PhoneNumber string `json:"phone_number"`
		}
	}
	ask("GET", "/callcenter/numbers", nil, &own)
	request := map[string]any{
		"name": "Reminders", "from": own.Numbers[0].PhoneNumber, "agent_id": os.Getenv("AGENT_ID"),
		"consent_confirmed": true, // only when all of them have agreed to be called
		"on_machine":        "hangup",
		"call_window":       map[string]string{"start": "09:00", "end": "20:00", "timezone": "destination"},
		"rows": []map[string]any{
			{"to": "+12025550101"},
			{"to": "+12025550102", "scheduled_at": time.Now().AddDate(0, 0, 1)},
		},
	}
	var check struct {
		Good, Wrong int
		PerMinute   float64 `json:"per_minute"`
	}
	ask("POST", "/callcenter/bulk-dial/check", request, &check) // calls nobody
	fmt.Println(check.Good, "good,", check.Wrong, "wrong, USD", check.PerMinute, "a minute")
	var queued batch
	ask("POST", "/callcenter/bulk-dial", request, &queued)
	at := "/callcenter/bulk-dial/" + queued.ID
	for _, turn := range []string{"/pause", "/resume"} {
		var turned batch
		ask("POST", at+turn, nil, &turned)
		fmt.Println(turned.State)
	}
	var all struct{ Batches []batch }
	ask("GET", "/callcenter/bulk-dial", nil, &all)
	for _, b := range all.Batches {
		fmt.Println(b.Name, b.Counts)
	}
	var now batch
	ask("GET", at, nil, &now)
	for _, r := range now.Rows {
		fmt.Println(r.To, r.Status, r.Cost)
	}
	ask("POST", at+"/cancel", nil, &now)
	fmt.Println(now.State)
	table(at + "/results.csv")
}

// table prints a file.
func table(path string) {
	request, err := http.NewRequest("GET", os.Getenv("PARLEY_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		log.Fatal(err)
	}
}
