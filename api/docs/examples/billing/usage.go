//go:build ignore

package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

// ask returns an answer, which the caller closes.
func ask(path string) io.ReadCloser {
	request, err := http.NewRequest("GET", os.Getenv("PARLEY_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}
	return answer.Body
}

func main() {
	body := ask("/v1/usage?group_by=component&from=2026-03-01")
	defer body.Close()
	var usage struct {
		Data []struct {
			Components []struct {
				Component, Unit  string
				Quantity, Amount json.Number // amounts are exact
			}
		}
		Total, Accrued json.Number
	}
	if err := json.NewDecoder(body).Decode(&usage); err != nil {
		log.Fatal(err)
	}
	for _, group := range usage.Data {
		for _, c := range group.Components {
			fmt.Printf("%s: %s %ss, %s USD\n", c.Component, c.Quantity, c.Unit, c.Amount)
		}
	}
	fmt.Printf("total %s USD, and %s USD in progress\n", usage.Total, usage.Accrued)

	// Tables for the books; reading fails when one breaks off.
	for _, name := range []string{"usage.csv", "ledger.csv"} {
		table := ask("/v1/" + name)
		rows, err := csv.NewReader(table).ReadAll()
		table.Close()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(strings.Join(rows[0], ","))
	}
}
