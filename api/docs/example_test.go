package docs_test

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

// The Go examples of the documentation are Go's own: Example_balance in example_billing_test.go is
// billing/balance. A page shows each as a whole program, with what it needs of this file.

// send sends a request, with JSON as its body unless header says otherwise: names and values in
// turn. The caller closes the body of the answer.
func send(method, path, body string, header ...string) *http.Response {
	request, err := http.NewRequest(method, os.Getenv("PARLEY_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode >= 400 {
		log.Fatalf("%s: %s", answer.Status, bytesOf(answer))
	}
	return answer
}

// bytesOf reads and closes the body of an answer.
func bytesOf(answer *http.Response) []byte {
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	return got
}

// read reads and closes the body of an answer, which is JSON.
func read(answer *http.Response, into any) {
	if err := json.Unmarshal(bytesOf(answer), into); err != nil {
		log.Fatal(err)
	}
}

// ask sends a request and reads the answer.
func ask(method, path, body string, into any) { read(send(method, path, body), into) }
