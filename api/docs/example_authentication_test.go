package docs_test

import (
	"fmt"
	"os"
)

type ticket struct {
	Ticket    string
	ExpiresIn float64 `json:"expires_in"`
}

func Example_scopedTicket() {
	var minted ticket
	ask("POST", "/v1/tickets", `{"scope": ["synthesis"], "expires_in": 60}`, &minted)
	fmt.Println(minted.Ticket, "opens speech synthesis for a minute")
}

func Example_sessionTicket() {
	agent := os.Getenv("AGENT_ID")
	var minted ticket
	ask("POST", "/v1/session-tickets", fmt.Sprintf(`{"agent_id": %q, "ttl_seconds": 120, "max_sessions": 1, "max_duration_seconds": 300}`, agent), &minted)
	fmt.Printf("%s opens one conversation with %s\n", minted.Ticket, agent)
}

func Example_ticket() {
	var minted ticket
	ask("POST", "/ws-ticket", "", &minted)
	fmt.Printf("%s opens sockets for %.0f seconds\n", minted.Ticket, minted.ExpiresIn)
}
