package codec

// OpusParams are what a far end says of the Opus that it takes (RFC 7587 section 6.1).
type OpusParams struct {
	Type    uint8 // RTP payload type, of the call's own; 0: it takes none
	Bitrate int   // the most that it wants on average, bits a second; 0: it does not say
	FEC     bool  // it finds lost audio in the copy that the next packet has of it
}
