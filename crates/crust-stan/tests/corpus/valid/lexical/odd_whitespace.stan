// Tabs, form feed and blanks in many places.
	data	{	int	n	;	}

model   


   {   

 target    +=


  1
  ;   
}   


