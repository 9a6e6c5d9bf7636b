//go:build ignore

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func ask(path string, into any) {
	answer, err := http.Get(os.Getenv("PARLEY_URL") + path)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		log.Fatal(err)
	}
}

func main() {
	var all struct {
		Voices    []struct{ ID, Gender string }
		Languages []struct{ Code, Name string }
		Models    []struct{ Name string }
		MaxText   int `json:"max_text_length"`
		Rate      int `json:"sample_rate"`
	}
	for _, path := range []string{"/voices", "/languages", "/models", "/config"} {
		ask(path, &all)
	}
	fmt.Println("voices:", all.Voices)
	fmt.Println("languages:", all.Languages)
	fmt.Println("models:", all.Models)
	fmt.Printf("up to %d characters, %d samples a second\n", all.MaxText, all.Rate)
}
