/* CONFIG args=one,0x10,-5,two`three,"a_b",,010u,7L */
BEGIN
{
	0; 1u; 2UL; 3ll; 4LLU; 017; 0x1F; 18446744073709551615;
}

END
{
	'a'; '\n'; '\''; '\\'; '\0'; '\377'; '\x41'; 'ab'; 'abcdefgh'; '"';
	"plain"; "a\tb\n"; "\"q\" \\ \101\x42 \q"; "one" "two"
	    "three"; "";
	$1; $2; $3; $4; $5; $6; $7; $8; $$2; $$5;
	$pid; $$pid; $target;
}
