package quality

// Report is how a call's media went, as it is kept with the call. Times are in
// milliseconds, shares 0 to 1. What was not measured is 0: many carriers send no
// RTCP, and then the round trip and what they heard are unknown.
type Report struct {
	// MOS is the mean and MOSMin the least score of the call's intervals of 5 s,
	// 1 to 4.4, each by the worse of what came in and of what this server sent in time; 0
	// when nothing came in.
	MOS    float64 `json:"mos"`
	MOSMin float64 `json:"mos_min"`

	// What came in.
	Received    uint64  `json:"packets_received"`
	Lost        uint64  `json:"packets_lost"` // those that came too late to be heard included
	Late        uint64  `json:"packets_late"`
	Loss        float64 `json:"loss"` // share of what the far end sent
	JitterMS    float64 `json:"jitter_ms"`
	ConcealedMS int64   `json:"concealed_ms"` // made up in place of lost packets
	Foreign     uint64  `json:"packets_foreign"`

	// What went out: late were those sent more than 40 ms after they were due, unsent those
	// that a busy server did not send at all. The rest is from the far end's last report.
	Sent           uint64  `json:"packets_sent"`
	SentLate       uint64  `json:"packets_sent_late"`
	Unsent         uint64  `json:"packets_unsent"`
	RemoteLoss     float64 `json:"remote_loss"`
	RemoteJitterMS float64 `json:"remote_jitter_ms"`
	RTTMS          float64 `json:"rtt_ms"`

	Encrypted bool `json:"encrypted"` // by SRTP, from the first packet to the last
}
