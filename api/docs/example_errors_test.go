package docs_test

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func Example_handle() {
	request, err := http.NewRequest("POST", os.Getenv("PARLEY_URL")+"/tts/synthesize",
		strings.NewReader(`{"text": "Hello", "voice": "Z9", "language": "en"}`))
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
		var why struct {
			Code, Error string
			Retryable   bool
		}
		if err := json.NewDecoder(answer.Body).Decode(&why); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s: %s Worth trying again: %t.\n", answer.StatusCode, why.Code, why.Error, why.Retryable)
	}
}

func Example_requests() {
	var list struct {
		Data []struct {
			ID, Code string
			Status   int
		}
	}
	ask("GET", "/v1/requests?outcome=refused&limit=5", "", &list)
	for _, r := range list.Data {
		var request struct{ Curl string }
		ask("GET", "/v1/requests/"+r.ID, "", &request)
		fmt.Println(r.Status, r.Code, request.Curl)
	}
	fmt.Printf("%d requests were refused\n", len(list.Data))
}
