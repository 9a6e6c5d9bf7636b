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
	request.Header.Set("Authorization", "Bearer "+os.Getenv("OPERATOR_KEY"))
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

type account struct {
	ID, Name  string
	Balance   json.Number
	Suspended bool
	Key       string `json:"api_key"`
}

func main() {
	var made, limited, now account
	// The answer holds a key of the account, this once: it is whose the account is.
	ask("POST", "/v1/operator/accounts", `{"name": "Casa Lola", "create_key": true}`, &made)
	fmt.Println(made.ID, made.Key)
	var list struct{ Data []account }
	ask("GET", "/v1/operator/accounts?limit=5", "", &list)
	for _, a := range list.Data {
		fmt.Println(a.Name, a.Balance)
	}
	one := "/v1/operator/accounts/" + made.ID
	ask("PATCH", one, `{"suspended": true, "concurrency": 20}`, &limited)
	fmt.Printf("suspended: %t\n", limited.Suspended)
	ask("POST", one+"/resolve-disputes", "", nil)
	ask("PATCH", one, `{"suspended": false}`, nil)
	ask("GET", one, "", &now)
	fmt.Printf("suspended: %t\n", now.Suspended)
}
