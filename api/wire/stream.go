package wire

// NewStream is a request for the audio of a call.
type NewStream struct {
	URL        string            `json:"url" doc:"Where it is sent: a wss address on the public Internet. It is noted without its path." maxLength:"2000" example:"wss://example.com/calls"`
	Tracks     string            `json:"tracks,omitempty" doc:"What is sent: what the person on the line says, what they hear, or both. The default is both." enum:"inbound,outbound,both" example:"both"`
	Headers    map[string]string `json:"headers,omitempty" nullable:"false" doc:"Headers of the request that opens the socket, 32 at most. A value may hold secrets of the account, as {{secret.NAME}}." example:"{\"Authorization\":\"Bearer {{secret.RECEIVER}}\"}"`
	Parameters Metadata          `json:"parameters,omitempty" nullable:"false" doc:"What the message start tells your server, as customParameters." example:"{\"team\":\"sales\"}"`
}

// Stream is the audio of a call on its way to a WebSocket.
type Stream struct {
	ID     string `json:"id" doc:"Its identifier, also among the call's listeners." example:"lis_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CallID string `json:"call_id" doc:"The call." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Host   string `json:"host" doc:"Where it is sent." example:"example.com"`
	Tracks string `json:"tracks" doc:"What is sent." enum:"inbound,outbound,both" example:"both"`
}
