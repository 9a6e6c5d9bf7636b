package docs_test

import (
	"fmt"
	"log"
	"os"
)

func Example_sounds() {
	recording, err := os.ReadFile("speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	var added struct{ ID string }
	read(send("POST", "/v1/sounds?name=Waltz", string(recording), "Content-Type", "audio/wav"), &added)
	sound := "/v1/sounds/" + added.ID // name it in settings.hold_sound of an agent
	var all struct {
		Data []struct {
			Name     string
			Duration int `json:"duration_ms"`
		}
	}
	ask("GET", "/v1/sounds", "", &all)
	for _, s := range all.Data {
		fmt.Println(s.Name, s.Duration, "ms")
	}

	wav := bytesOf(send("GET", sound+"/audio", ""))
	if err := os.WriteFile("waltz.wav", wav, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("waltz.wav: %d bytes\n", len(wav))

	send("DELETE", sound, "").Body.Close()
	fmt.Println("removed")
}
