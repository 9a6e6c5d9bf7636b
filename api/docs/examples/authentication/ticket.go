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
	request, err := http.NewRequest("POST", os.Getenv("PARLEY_URL")+"/ws-ticket", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var minted struct {
		Ticket    string  `json:"ticket"`
		ExpiresIn float64 `json:"expires_in"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&minted); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s opens sockets for %.0f seconds\n", minted.Ticket, minted.ExpiresIn)
}
