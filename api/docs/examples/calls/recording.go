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

func ask(method, path string) *http.Response {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	return answer
}

// fetch keeps the recording of a call, if there is one.
func fetch(call string) bool {
	path := "/v1/calls/" + call + "/recording"
	recording := ask("GET", path)
	defer recording.Body.Close()
	if recording.StatusCode != http.StatusOK {
		return false // 404: it was not recorded; 409: not ready yet; 410: deleted, or kept long enough
	}
	kind := ".wav"
	if recording.Header.Get("Content-Type") == "audio/ogg" {
		kind = ".ogg"
	}
	file, err := os.Create(call + kind)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if _, err := io.Copy(file, recording.Body); err != nil {
		log.Fatal(err)
	}
	waveform := ask("GET", path+"/peaks")
	defer waveform.Body.Close()
	var sides struct{ Caller, Agent []int } // each at most 1,200 values from 0 to 255
	if err := json.NewDecoder(waveform.Body).Decode(&sides); err != nil {
		log.Fatal(err)
	}
	fmt.Println(call, len(sides.Caller), "points")
	gone := ask("DELETE", path)
	gone.Body.Close()
	if gone.StatusCode != http.StatusNoContent {
		log.Fatal(gone.Status)
	}
	return true
}

func main() {
	list := ask("GET", "/v1/calls?limit=10&state=ended")
	defer list.Body.Close()
	var calls struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(list.Body).Decode(&calls); err != nil {
		log.Fatal(err)
	}
	fetched := 0
	for _, call := range calls.Data {
		if fetch(call.ID) {
			fetched++
		}
	}
	fmt.Println(fetched, "recordings fetched")
}
