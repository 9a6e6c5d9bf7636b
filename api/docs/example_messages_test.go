package docs_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"
)

func Example_messages() {
	// A number that was bought here; messages come from no other.
	var found struct{ Numbers []number }
	ask("GET", "/callcenter/numbers/search?country_code=PT", "", &found)
	var bought number
	for _, one := range found.Numbers {
		if strings.ContainsAny(one.PhoneNumber[len(one.PhoneNumber)-1:], "0123") {
			ask("POST", "/callcenter/numbers", `{"phone_number":"`+one.PhoneNumber+`"}`, &bought)
			break
		}
	}

	request, err := json.Marshal(map[string]string{
		"from": bought.PhoneNumber, "to": "+1 202 555 0177", "text": "Your table is booked for Friday at 8 pm.",
	})
	if err != nil {
		log.Fatal(err)
	}
	type text struct {
		ID, To, Text, Status string
		Segments             int
		Cost                 float64
	}
	var message text
	// The key makes it safe to send it again after a lost answer.
	read(send("POST", "/v1/messages", string(request), "Idempotency-Key", rand.Text()), &message)
	fmt.Println(message.Status, message.Segments, "segment")

	for message.Status == "queued" { // a webhook for message.delivered and message.failed saves asking
		time.Sleep(time.Second)
		ask("GET", "/v1/messages/"+message.ID, "", &message)
	}
	fmt.Println(message.Status, message.Cost)
	var list struct{ Data []text }
	ask("GET", "/v1/messages?direction=outbound&peer=12025550177&limit=10", "", &list)
	for _, m := range list.Data {
		fmt.Println(m.To, m.Text)
	}

	send("DELETE", "/v1/messages/"+message.ID, "").Body.Close()
	fmt.Println("deleted")
	send("DELETE", "/callcenter/numbers/"+bought.ID, "").Body.Close()
}
