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
	request, err := http.NewRequest("GET", os.Getenv("PARLEY_URL")+"/v1/balance", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}
	var wallet struct {
		Balance, Paid, Bonus json.Number // exact, as the service writes them
		Warnings             []struct{ Kind, Message string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&wallet); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Balance %s USD: %s paid, %s bonus\n", wallet.Balance, wallet.Paid, wallet.Bonus)
	for _, warning := range wallet.Warnings {
		fmt.Println(warning.Kind, warning.Message)
	}
}
