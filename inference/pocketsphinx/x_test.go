package pocketsphinx
import ("testing";"os";"encoding/binary";"strings";"time";"strconv")
func audio(t *testing.T, v string, s string) []int16 {
 p:="/tmp/exp/cache_"+v+strings.ReplaceAll(s," ","_")
 if b,err:=os.ReadFile(p);err==nil{ x:=make([]int16,len(b)/2); binary.Decode(b,binary.LittleEndian,x); return x}
 x:=telephone(t,flite(t,v,s)); b,_:=binary.Append(nil,binary.LittleEndian,x); os.WriteFile(p,b,0600); return x }
func TestXTel(t *testing.T){ 
 if w:=os.Getenv("PW"); w!="" { phraseWeight,_=strconv.ParseFloat(w,64) }
 e:=start(t,Config{}); tw:=0; tn:=0; fw:=0; fn:=0
 for ai, ag := range []struct{p,c []string}{{prompt,calls},{prompt2,calls2},{prompt3,calls3}} {
 for _,voice:=range []string{"slt","rms","awb"} { r:=open(t,e,ag.p); wrong,words:=0,0; t0:=time.Now(); n:=0
  for i,s:=range ag.c { a:=withPauses(audio(t,voice,s)); n+=len(a); got:=recognise(t,r,a); k:=wordErrors(strings.Fields(s),strings.Fields(got)); wrong+=k; words+=len(strings.Fields(s))
   if os.Getenv("V")!="" && k>0 {t.Logf("%s words wrong, %d %q %q",voice,i,s,got)} }
  tw+=wrong;tn+=words
  t.Logf("agent %d %s: %d of %d words wrong, %.1f rtf %.3f",ai,voice,wrong,words,100*float64(wrong)/float64(words),time.Since(t0).Seconds()/(float64(n)/16000)) }
 for _,voice:=range []string{"slt","rms"} { for i,s:=range ag.c { if i%3!=1 {continue}; r:=open(t,e,ag.p); got:=recognise(t,r,withPauses(audio(t,voice,s))); r.Close(); fn+=len(strings.Fields(s)); fw+=wordErrors(strings.Fields(s),strings.Fields(got))}}
 }
 t.Logf("all %.1f firsts wrong %.1f",100*float64(tw)/float64(tn),100*float64(fw)/float64(fn))
}
var prompt2 = []string{`You are the host of Trattoria Bella, an Italian restaurant in the old town. Take reservations for lunch and dinner.
Opening hours: lunch 12:00-14:30, dinner 18:00-22:30, closed on Mondays. The kitchen closes at 10 pm.
We have 40 seats inside and a terrace with 20 seats. Groups of more than 8 people should call the manager, Marco.
Menu: pizza, pasta, risotto, grilled fish, salads, tiramisu. Vegetarian, vegan and gluten free dishes are available. Dogs are welcome on the terrace.
Ask for the date, the time, the number of guests and a name. Confirm the reservation at the end. We do not deliver food, but take away is possible.`,
"Trattoria Bella, good evening! Would you like to reserve a table?","Inside or on the terrace?","How many guests?","a window seat","for four people at eight o'clock","do you have vegetarian dishes","I'd like to reserve a table for tonight","can I bring my dog","is there a children's menu"}
var calls2 = []string{
"good evening i'd like to reserve a table",
"for four people please",
"on thursday at eight o'clock",
"do you have a table on the terrace",
"inside please",
"the name is robert clark",
"do you have vegan dishes",
"can we bring our dog",
"what time does the kitchen close",
"are you open on monday",
"i have to cancel my reservation for tonight",
"can you make it half an hour later",
"we will be six instead of four",
"is it possible to get a pizza to take away",
"my number is five five five two one seven nine",
"no that's wrong i said thursday",
"could i speak to the manager please",
"how do i get there from the station",
"thank you very much goodbye",
"sorry could you say that again",
}

var prompt3 = []string{`You are the assistant of Northwind Parcel Service. Help callers to track a parcel, change the delivery day or address, and report a damaged or lost parcel.
Parcels are delivered Monday to Saturday between 8 am and 8 pm. A parcel can be left with a neighbour or picked up at a parcel shop after 24 hours. It is kept there for seven days.
Ask for the tracking number, which has eight digits, and the postcode. A second delivery attempt is free. Sending a small parcel costs 5 pounds, a large parcel 12 pounds. For complaints, connect to customer service.`,
"Northwind Parcel Service, how can I help?","Can you give me your tracking number?","Shall we leave it with a neighbour?","my parcel has not arrived","where is my parcel","the box is damaged","I was not at home","deliver it tomorrow instead"}
var calls3 = []string{
"hi where is my parcel",
"the tracking number is four seven one nine two two eight zero",
"it was supposed to arrive on wednesday",
"i was not at home yesterday",
"can you deliver it on saturday morning",
"please leave it with my neighbour",
"how much does it cost to send a large parcel",
"the parcel is damaged and i want a refund",
"where is the next parcel shop",
"until when can i pick it up",
"i want to speak to customer service",
"yes that is the right address",
"no i need it before friday",
"can you change the delivery address",
"okay thank you for your help bye",
}
