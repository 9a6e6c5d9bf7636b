package wire

import "time"

// NewMessage asks for a text message to be sent.
type NewMessage struct {
	From string `json:"from" doc:"A number of the account that was bought here: numbers of your own trunks send none." maxLength:"64" example:"+12125550100"`
	To   string `json:"to" doc:"The number to send to, in international format; spaces and hyphens are ignored. It must be one that may be called." maxLength:"64" example:"+14155550177"`
	Text string `json:"text" doc:"What to say, in 10 segments at most: of 153 characters of the GSM alphabet, or of 67 with any other character in the text; one that fits into a single segment may have 160, or 70." maxLength:"6400" example:"Your table is booked for Friday at 8 pm."`
}

// Message is a text message of the account.
type Message struct {
	ID        string     `json:"id" doc:"Younger ones sort later." example:"msg_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Direction string     `json:"direction" doc:"Which way it goes." enum:"inbound,outbound" example:"outbound"`
	From      string     `json:"from" doc:"Who sends it; of one that came in perhaps a name." example:"+12125550100"`
	To        string     `json:"to" doc:"Whom it is for." example:"+14155550177"`
	Text      *string    `json:"text" doc:"What it says; null once it was deleted." example:"Your table is booked for Friday at 8 pm."`
	Segments  int        `json:"segments" doc:"How many segments it is charged for." example:"1"`
	Encoding  string     `json:"encoding" doc:"The GSM alphabet, or UCS-2 where a character is not in it." enum:"gsm7,ucs2" example:"gsm7"`
	Status    string     `json:"status" doc:"queued: the carrier does not have it yet; sent: it does, and some networks never tell more; delivered; failed; or received, of one that came in." enum:"queued,sent,delivered,failed,received" example:"delivered"`
	Reason    *string    `json:"reason" doc:"Why it has failed, for people; else null." example:"The number is not in service."`
	Cost      USD        `json:"cost" doc:"What it cost. One that goes out is charged once the carrier has it, delivered or not; until then its price is held."`
	AgentID   *string    `json:"agent_id" doc:"The agent that sent it; null: none did." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CallID    *string    `json:"call_id" doc:"The call in which the agent sent it; else null." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CreatedAt time.Time  `json:"created_at" doc:"When it was asked for, or came in."`
	SentAt    *time.Time `json:"sent_at" doc:"When the carrier took it, or had it; null: it has not."`
	EndedAt   *time.Time `json:"ended_at" doc:"When it was delivered, has failed or came in; null: neither."`
	DeletedAt *time.Time `json:"deleted_at" doc:"When its text was deleted; null: it is there."`
}
