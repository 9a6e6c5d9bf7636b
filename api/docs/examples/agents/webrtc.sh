# offer.sdp is what your WebRTC library offers.
curl -sS -D head.txt -o answer.sdp -X POST "$PARLEY_URL/webrtc/agent?agent_id=$AGENT_ID" \
  -H "Authorization: Bearer $PARLEY_API_KEY" -H "Content-Type: application/sdp" --data-binary @offer.sdp
head -1 answer.sdp # the library takes the answer, and connects
session=$PARLEY_URL$(tr -d '\r' < head.txt | sed -n 's/^[Ll]ocation: //p')
tag=$(tr -d '\r' < head.txt | sed -n 's/^[Ee][Tt]ag: //p')

# Candidates that were found later, or that there are no more.
printf 'a=end-of-candidates\r\n' | curl -sS -w '%{http_code}\n' -X PATCH "$session" -H "Authorization: Bearer $PARLEY_API_KEY" \
  -H "Content-Type: application/trickle-ice-sdpfrag" -H "If-Match: $tag" --data-binary @-

curl -sS -w '%{http_code}\n' -X DELETE "$session" -H "Authorization: Bearer $PARLEY_API_KEY"
