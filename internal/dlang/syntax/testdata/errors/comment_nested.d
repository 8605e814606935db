/* ERROR NEXT D_SYNTAX "encountered inside a comment" */
BEGIN /* one /* two */ { }
