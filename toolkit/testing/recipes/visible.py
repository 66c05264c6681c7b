"""Recipes for what may be seen (`docs/semantics.md` V) and for hide and show (H)."""

RECIPES = r"""
V1 | a scope leaves out what it does not match
with scope $BP $SP; go; call $C; call $R

V1 | a denied tool is not visible
with policy $W=deny $A=deny; go; call $W; call $R; find $qa; call $A

V1 | scope and policy both narrow
with scope $BP; with policy $R=deny; go; call $R; call $W; call $C

V1 S5 | tools.search needs no scope
with scope $A; go; search $qa; pass; call $A

V1 | a tool that no source lists is not visible
only R A; go; call $W; call $B

V1 V2 | every scope in force has to match
with scope $BP $SP; role $SP $TP; go; call $R; call $C; find $qa; call $A

V2 | a role does not widen a session
with scope $R; role *; go; call $W; call $R

V2 | a role narrows, and without it the session stands
with scope $BP $TP; role $BP; go; call $C; role; go; call $C; call $A

V2 A1 | a step does not widen
with scope $BP; go; enter s *; call@s $C; call@s $R; enter@s t *; call@t $C

V2 | a policy's allow opens no scope
with scope $BP; with policy *=allow $C=allow; go; call $C

V3 | ask is visible and asks at the call
with policy $R=ask $A=ask; go; call $R; find $qa; call $A

V3 B8 | ask goes by now
go; policy $R=ask; call $R; policy $R=allow; call $R

V3 | a search under ask waits for its confirmation
with policy tools.search=ask; go; search $qa; pass; call $A

V4 | patterns match whole names as opaque text
once; each P 't.?' 't.*' 't.[ab]' 't.[!a]*' 'T.*' 't' 't.a+' '*/c' 't.{a,b}' 't.[a-c]?' 't.[[]x]' 't*' '*b' 't.a*c'
only; tool t.a; tool t.b; tool t.ab; tool t.b/c; tool t.a+; tool 't.[x]'; tool T.a; tool 't.{a,b}'; tool t.aa.c
with scope '$P'; turn

V4 | a class in a hide, a negated one in a policy
once; only; tool t.a; tool t.b; tool t.!; tool t.-; each P 't.[!b]' 't.[b!]' 't.[-a]' 't.[a-b]'
hide x '$P'; go; call t.a; call t.b; call t.!; call t.-

V4 | a pattern without a match waits for tools to come
row N mcp.late.bell source=mcp:late; hide $Y mcp.late.*; turn; list mcp:late N; go; call mcp.late.bell

V4 | a pattern without a match is reported once
with scope * zzz.*; with policy yyy=deny; hide $X xxx?; turn; turn

V4 | a replaced pattern that no boundary saw is not reported
with scope * zzz.*; scope * aaa.*; policy bbb=ask; policy ccc=ask; turn

V4 | a step's pattern without a match is reported at the next boundary
go; enter s $BP zzz.*; turn; turn

V4 S5 | the star takes in tools.search
hide $X *; turn; show $X $SP; turn

V5 | core names are reserved
once; each N tools.search tools_search ui.show ui_show ui.hide ui_hide; each S mcp:rogue extension:rogue builtin
tool $N source=$S; turn; turn

V5 | another spelling is another name
go; call $RU; call $CU; call $R

V5 V1 | a scope in another spelling grants nothing
with scope $RU; go; call $R

V5 | two spellings are two tools
tool $RU source=builtin schema=need; go; call $R; call $RU; call $RU bay=1

V6 | a call by wire name reaches its tool
go; call ~$R; call ~$C; call ~$E; find $qa; call ~$A; call $A

V6 | core names put an underscore for the dot
go; call tools_search query=$qa; pass; call $A

V6 | a legal name is its own wire name
tool plain_name-7 schema=need; go; call plain_name-7 bay=1; call ~plain_name-7; call ~plain_name-7 bay=2

V6 | wire names are one-to-one
each N mcp.s.a_b mcp.s.a__b mcp.s_a.b mcp.s.a-b mcp.s.A:b
tool mcp.s.a:b schema=need; tool $N schema=quay; go; call ~mcp.s.a:b bay=1; call ~$N bay=1; call ~$N quay=x

V6 H6 | a wire name of what is hidden is refused like its name
hide $X $R; go; call ~$R

V7 | of one name, the source that is first by code point stays
once; each O 'b a' 'a b'; row a x source=mcp:a description=first; row b x source=mcp:b description=second
only *$O; turn

V7 | a builtin tool stays before a server's
each S mcp:a mcp:zzz extension:a
tool x source=$S description=theirs; tool x source=builtin description=ours; turn

V7 | the first listed of one source stays
tool x source=mcp:a description=first; tool x source=mcp:a description=second; turn

V7 | who held the name at the last boundary keeps it
row a x source=mcp:a description=newcomer; tool x source=mcp:b description=holder; turn; list mcp:a a; turn
list mcp:b; turn; row b x source=mcp:b description=returns; list mcp:b b; turn

V7 | a holder whose server is down gives the name up
row a x source=mcp:a description=newcomer; tool x source=mcp:b description=holder; turn; list mcp:a a; down b; turn
up b; turn

V7 | an empty name is left out
tool '' source=mcp:s; turn; turn

V7 | a tool named like a core tool's wire name is left out
once; each N tools_search ui_show; with ui; tool $N source=builtin; turn

V8 | no scope narrows nothing, an empty one grants nothing
with scope nothing; go; call $R; scope; go; call $R; call $C

V8 | the last match in a policy decides, no match allows
with policy *=deny $BP=allow $W=deny; go; call $R; call $W; call $C

V8 | a later general rule outdoes an earlier special one
with policy $W=deny $C=ask *=allow; go; call $W; call $C

V8 | no match in a policy allows
with policy zzz=deny $W=ask; go; call $R; call $W

V8 A1 | a step without patterns has nothing
go; enter s nothing; call@s $R; search@s $qa

H1 | one extension's hide stands when another is unloaded
hide $X $R; turn; unload $Y; go; call $R

H1 | two extensions hide one tool, each lifts its own
hide $X $R; hide $Y $R; show $X $R; turn; show $Y $R; turn

H1 | extensions are told apart by exact id
hide a $R; hide A $W; turn; unload a; turn; show A $W; turn

H1 H5 | hide and show say nothing before a boundary
hide $X $R; show $X $R; hide $X $W; turn

H2 | an extension hides many and shows one of them again
hide $X $SP $W; show $X $A; turn

H2 | the last pattern that matches decides
hide $X $A; show $X $SP; hide $X $A; turn

H2 | the order within one list counts
show $X $A; hide $X $SP; show $X $B; turn

H2 | one extension's last word is enough to hide
hide $X $BP; show $Y $BP; hide $Y $SP; show $X $SP; turn

H2 | words of earlier turns still count
hide $X $SP; turn; show $X $A; turn; hide $X $B; turn; show $X *; turn

H2 H8 | a repeated word moves to the end
hide $X $SP; show $X $A; hide $X $SP; go; call $A; call $B

H3 | a show lifts no other extension's hide
hide $X $R; turn; show $Y $R; turn; show $X $R; turn

H3 | a show of many says so when all of it is another's
hide $X $SP; show $Y $SP; turn; turn

H3 | a show that lifts a hide of its own is not reported
hide $X $A; hide $Y $B; show $Y $SP; turn

H3 | a show before the other's hide changes nothing either
show $Y $R; hide $X $R; turn

H3 | a show of what nobody hides is not reported
show $Y $R; turn

H4 | a show of what policy denies changes nothing
with policy $R=deny; show $X $R; go; call $R; policy; go; call $R

H4 | a show of what the scope leaves out changes nothing
with scope $SP; hide $X $R; turn; show $X $R; turn; scope; turn

H4 | hidden and denied: both have to go
with policy $R=deny; hide $X $R; turn; policy; turn; show $X $R; turn

H5 | a hide in mid-turn waits
go; hide $X $R $A; call $R; find $qa; call $A; go; call $R; call $A

H5 | a show in mid-turn waits
hide $X $R $A; go; show $X $R $A; call $R; search $qa; go; call $R; search $qa

H5 | a hide between turns takes effect at the next
go; end; hide $X $R; go; call $R

H5 A3 | a hide in mid-turn is not one for a step
go; hide $X $R; enter s; call@s $R; turn

H6 | what is hidden is not found and not called
hide $X $A $R; go; search $qa; call $R; pass; call $A

H6 | what is hidden is no declared match
hide $X $R; go; search $qr; call $R

H6 S3 | hidden is not withheld
with selector builtin-only; hide $X $C; go; call $C; call $D

H7 | unloading takes the hides along, at the boundary
hide $Y $R; go; unload $Y; call $R; go; call $R

H7 | unloading leaves the other's hides
hide $Y $R; hide a $R; turn; unload $Y; turn; unload a; turn

H7 | an unloaded extension's words do not come back with it
hide $Y $R; turn; unload $Y; hide $Y $W; turn

H7 B4 | unloading takes the extension's tools along
go; unload $X; call $E; go; call $E

H8 | hide and show in one turn net out
turn; hide $X $BP; show $X $BP; go; call $R

H8 | show and hide in one turn net out
hide $X $R; turn; show $X $R; hide $X $R; go; call $R

H8 | what is hidden in mid-turn is found and called until the boundary
go; hide $X $SP; find $qa; call $A; go; search $qa; call $A
"""
