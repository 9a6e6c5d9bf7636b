//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func ask(method, path string) []byte {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
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
	return got
}

func read(path string, into any) {
	if err := json.Unmarshal(ask("GET", path), into); err != nil {
		log.Fatal(err)
	}
}

type answers struct {
	Key   string
	Turns int
	Total struct{ P50, P90, P99 int } `json:"total_ms"`
}

func main() {
	var latency struct {
		Data  []answers
		Total answers
	}
	read("/v1/latency?group_by=day", &latency)
	for _, day := range latency.Data {
		fmt.Println(day.Key, day.Turns, "answers,", day.Total.P50, "to", day.Total.P90, "ms")
	}
	fmt.Println(latency.Total.Turns, "answers of all days")

	fmt.Printf("%s\n", ask("GET", "/v1/calls.csv?state=ended"))

	var live struct{ Data []struct{ ID string } }
	read("/v1/calls?state=live&direction=outbound", &live)
	for _, call := range live.Data {
		ask("POST", "/v1/calls/"+call.ID+"/hangup")
	}
	fmt.Println(len(live.Data), "calls hung up")
}
