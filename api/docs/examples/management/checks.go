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
	request, err := http.NewRequest("GET", os.Getenv("PARLEY_URL")+"/v1/operator/checks", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("OPERATOR_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var checks struct {
		Data []struct{ Name, Status, Detail, Fix string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&checks); err != nil || answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status, err)
	}
	for _, check := range checks.Data {
		fmt.Println(check.Status, check.Name, check.Detail, check.Fix)
	}
}
