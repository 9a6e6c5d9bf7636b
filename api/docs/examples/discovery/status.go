//go:build ignore

package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	for _, part := range []string{"health", "voices", "models"} {
		request, err := http.NewRequest("GET", os.Getenv("PARLEY_URL")+"/api/status/"+part, nil)
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s\n", part, body)
	}
}
