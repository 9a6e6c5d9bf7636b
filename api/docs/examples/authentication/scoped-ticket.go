//go:build ignore

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	wanted, err := json.Marshal(map[string]any{
		"scope": []string{"synthesis"}, "expires_in": 60,
	})
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest("POST", os.Getenv("PARLEY_URL")+"/v1/tickets", bytes.NewReader(wanted))
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
	var minted struct{ Ticket string }
	if answer.StatusCode >= 400 {
		log.Fatal(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&minted); err != nil {
		log.Fatal(err)
	}
	fmt.Println(minted.Ticket, "opens speech synthesis for a minute")
}
