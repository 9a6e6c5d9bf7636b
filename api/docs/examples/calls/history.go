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

func read(path string, into any) {
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
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode >= 400 {
		log.Fatalf("%s: %s", answer.Status, got)
	}
	if err := json.Unmarshal(got, into); err != nil {
		log.Fatal(err)
	}
}

func main() {
	var list struct{ Data []struct{ ID string } }
	read("/v1/calls?limit=10", &list)
	fmt.Printf("%d calls on this page\n", len(list.Data))
	if len(list.Data) == 0 {
		return
	}
	path := "/v1/calls/" + list.Data[0].ID

	var call struct {
		Direction, From, To, Status string
		Duration                    int
		Transcript                  []struct {
			Role, Text string
			At         float64
		}
	}
	read(path, &call)
	fmt.Printf("%s from %s to %s, %d s, %s\n", call.Direction, call.From, call.To, call.Duration, call.Status)
	for _, line := range call.Transcript {
		fmt.Printf("%.1f s %s: %s\n", line.At, line.Role, line.Text)
	}

	var quality struct {
		Available bool
		MOS, Loss float64
		RTT       float64 `json:"rtt_ms"`
	}
	read(path+"/quality", &quality)
	if quality.Available {
		fmt.Printf("MOS %.2f, %.1f %% lost, round trip %.1f ms\n", quality.MOS, 100*quality.Loss, quality.RTT)
	}

	var signalling struct {
		Data []struct{ At, Direction, Message string }
	}
	read(path+"/sip", &signalling)
	for _, m := range signalling.Data {
		first, _, _ := strings.Cut(m.Message, "\r\n")
		fmt.Println(m.At, m.Direction, first)
	}
}
