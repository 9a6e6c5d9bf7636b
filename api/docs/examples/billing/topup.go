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
	if answer.StatusCode >= 400 {
		log.Fatal(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		log.Fatal(err)
	}
}

type topup struct {
	ID, State, URL string
	Amount         json.Number
}

func main() {
	var made, now topup
	ask("POST", "/v1/topups", `{"amount": 25}`, &made)
	fmt.Println("Pay at", made.URL)
	ask("GET", "/v1/topups/"+made.ID, "", &now)
	fmt.Println(now.ID, now.State) // succeeded once it is paid
	var list struct{ Data []topup }
	ask("GET", "/v1/topups?limit=5", "", &list)
	for _, one := range list.Data {
		fmt.Println(one.ID, one.Amount, one.State)
	}
}
