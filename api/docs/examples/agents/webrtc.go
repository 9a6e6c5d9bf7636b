//go:build ignore

package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func ask(method, url, kind, tag, body string) *http.Response {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	req.Header.Set("Content-Type", kind)
	req.Header.Set("If-Match", tag)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	return res
}

func main() {
	server := os.Getenv("PARLEY_URL")
	offer, err := os.ReadFile("offer.sdp") // what your WebRTC library offers
	if err != nil {
		log.Fatal(err)
	}
	begun := ask("POST", server+"/webrtc/agent?agent_id="+os.Getenv("AGENT_ID"), "application/sdp", "", string(offer))
	defer begun.Body.Close()
	answer, err := io.ReadAll(begun.Body)
	if err != nil || begun.StatusCode != http.StatusCreated {
		log.Fatal(begun.Status, err)
	}
	fmt.Printf("%s\n", answer) // the library takes the answer, and connects
	session := server + begun.Header.Get("Location")

	// Candidates that were found later, or that there are no more.
	changed := ask("PATCH", session, "application/trickle-ice-sdpfrag", begun.Header.Get("ETag"), "a=end-of-candidates\r\n")
	defer changed.Body.Close()
	fmt.Println(changed.StatusCode)

	ended := ask("DELETE", session, "", "", "")
	defer ended.Body.Close()
	fmt.Println(ended.StatusCode)
}
