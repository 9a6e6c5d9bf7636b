package page

// EndWords are the reasons of an end in words.
var EndWords = map[string]string{
	"completed": "Transferred", "user_hangup": "Caller hung up", "agent_hangup": "Agent hung up", "api_hangup": "Hung up from here", "no_answer": "No answer",
	"busy": "Busy", "rejected": "Rejected", "failed": "Failed", "voicemail": "Voicemail", "balance_exhausted": "Balance used up", "max_duration": "Too long",
	"unknown": "Unknown",
}

// causeWords are finer causes that people can do something about.
var causeWords = map[string]string{
	"invalid_number": "no such number", "carrier_auth": "refused by the carrier", "carrier_unavailable": "carrier not reached", "no_common_codec": "no common codec",
	"redirected": "redirected", "media_timeout": "line went dead", "node_lost": "server was lost", "answered_after_cancel": "answered too late",
	"no_ack": "answer never acknowledged", "no_keys": "audio could not be encrypted", "webhook": "refused by the number's webhook", "no_agent": "the number has no agent",
	"no_recogniser": "language not understood here", "blocked_as_spam": "blocked as spam", "engine": "an engine failed", "spending_limit": "limit of a day", "ticket_cost": "limit of its ticket",
}

// Ending says in words how a call ended: the far end of an outbound call is the callee.
func Ending(outbound bool, reason string, detail *string) string {
	words := EndWords[reason]
	if outbound && reason == "user_hangup" {
		words = "They hung up"
	}
	if detail != nil && causeWords[*detail] != "" {
		words += ": " + causeWords[*detail]
	}
	return words
}

// AnswererWords say who answered a call that was placed.
var AnswererWords = map[string]string{"human": "a person", "machine": "a machine", "screening": "a screening assistant", "unknown": "not clear"}
