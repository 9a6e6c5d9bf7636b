package docs_test

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func Example_document() {
	var document struct {
		OpenAPI string
		Paths   map[string]any
	}
	public("/openapi.json", &document)
	fmt.Printf("OpenAPI %s, %d paths\n", document.OpenAPI, len(document.Paths))
}

func Example_health() {
	for _, path := range []string{"/health", "/status"} {
		answer, err := http.Get(os.Getenv("PARLEY_URL") + path)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s\n", path, bytesOf(answer))
	}
}

func Example_status() {
	for _, part := range []string{"health", "voices", "models"} {
		fmt.Printf("%s %s\n", part, bytesOf(send("GET", "/api/status/"+part, "")))
	}
}

// public reads what anybody may read.
func public(path string, into any) {
	answer, err := http.Get(os.Getenv("PARLEY_URL") + path)
	if err != nil {
		log.Fatal(err)
	}
	read(answer, into)
}

func Example_voices() {
	var all struct {
		Voices    []struct{ ID, Gender string }
		Languages []struct{ Code, Name string }
		Models    []struct{ Name string }
		MaxText   int `json:"max_text_length"`
		Rate      int `json:"sample_rate"`
	}
	for _, path := range []string{"/voices", "/languages", "/models", "/config"} {
		public(path, &all)
	}
	fmt.Println("voices:", all.Voices)
	fmt.Println("languages:", all.Languages)
	fmt.Println("models:", all.Models)
	fmt.Printf("up to %d characters, %d samples a second\n", all.MaxText, all.Rate)
}
